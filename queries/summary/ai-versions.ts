/**
 * Finds the versions of a record's resources that an AI wrote. These versions are never presented as facts
 * (docs/spec/interface.md, section 2.5).
 */
import type { AiVersions } from '#src/clinical/summary/choose.ts';
import type { AuthorType } from '#src/shared/access/author.ts';
import { unavailable } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { Queryable } from '../database/gather.ts';
import { prepared } from '../database/prepared.ts';
import { andSeen, bindTo, type Seeing } from '../sight.ts';

const AI: AuthorType = 'ai';

/**
 * Index: history.version_of_record (record, recorded_at, event_id), for every version of the record once, and for its
 * end backwards; its primary key (id, version), for earlier versions; resources.resource_of_record (record, type, id).
 * The tenant is checked without an index: without statistics the planner would otherwise read all of the tenant's rows.
 * Metadata is parsed only where the text may name an AI.
 */
const writeStatement = (seenVersion: string, seenEarlier: string): string => `
  with ai as materialized (
    select v.type || '/' || v.id || '/_history/' || v.version as name, v.id, v.version
    from history.version v
    where v.record = $1::uuid and (v.tenant = $2::uuid) is true
      and strpos(v.metadata, '"type":"' || $3::text || '"') > 0
      and v.metadata::jsonb #>> '{author,type}' = $3 ${seenVersion}
  )
  select
    array(select name from ai) as versions,
    array(
      select json_build_array(ai.name, b.version)
      from ai cross join lateral (
        select e.version from history.version e
        where e.id = ai.id and e.version < ai.version
          and e.body is not null and e.metadata::jsonb #>> '{author,type}' is distinct from $3
          ${seenEarlier}
        order by e.version desc limit 1) b
    ) as changes,
    (select max(r.last_updated) from resources.resource r where r.record = $1::uuid) as last,
    (select max(v.recorded_at) from history.version v where v.record = $1::uuid) as known`;

/** Indexes: history.version_of_record (record, recorded_at, event_id), backwards; primary key of resources.resource. */
const LAST_CHANGE = `
  select v.recorded_at as last,
    (select r.last_updated >= v.recorded_at from resources.resource r where r.id = v.id) is true as shown
  from history.version v where v.record = $1::uuid order by v.recorded_at desc limit 1`;

/** Index: resources.resource_of_record (record, type, id); reads all rows of the record. */
const LAST_SHOWN = `
  select max(r.last_updated) as last, true as shown from resources.resource r where r.record = $1::uuid`;

/** Returns the time of the record's last change that the read model `resources` contains; 0 if there is none. */
export async function lastChange(database: Queryable, record: string): Promise<Micros> {
  const ask = async (name: string, text: string) => {
    const { rows } = await database.query<{ last: Micros | null; shown: boolean }>({
      ...{ name, text, values: [record] },
    });
    return rows[0];
  };
  const newest = await ask('last-change', LAST_CHANGE);
  // Rarely, the read model lags behind the history.
  const found = newest?.shown === true ? newest : await ask('last-shown', LAST_SHOWN);
  return found?.last ?? 0;
}

/** The letters needed for whole records under a grant (docs/spec/decisions.md, section 9, "Letters"). */
const NEEDS = 'rs';

/** Returns the versions that an AI wrote, as `readAiVersions` does. */
export async function aiVersions(database: Queryable, sees: Seeing, record: string): Promise<AiVersions> {
  return (await readAiVersions(database, sees, record)).byAi;
}

/**
 * Returns the versions of a record's resources that an AI wrote, each with the last earlier version that an AI didn't write.
 * Under a grant, it returns only the versions that the grant covers. Call this after reading the resources, so that all their
 * versions are included.
 * @returns also `last`, the time of the last change in the read model `resources`
 * @throws Refusal unavailable (503) while the read model `history` lacks a version of the record that `resources` has.
 */
export async function readAiVersions(
  database: Queryable,
  sees: Seeing,
  record: string,
): Promise<{ readonly byAi: AiVersions; readonly last: Micros }> {
  const values: unknown[] = [record, sees.ownerId, AI];
  const bind = bindTo(values);
  const seen = (as: string): string => andSeen(sees, NEEDS, { as, of: 'version' }, bind);
  const text = writeStatement(seen('v'), seen('e'));
  type Row = { versions: string[]; changes: [string, number][]; last: Micros | null; known: Micros | null };
  const { rows } = await database.query<Row>(
    sees.within === undefined ? { name: 'ai-versions', text, values } : prepared(text, values),
  );
  const [found] = rows;
  if (found === undefined || found.last === null || found.known === null || found.last > found.known)
    throw unavailable('the read model history lags behind the record');
  const changes = new Map(found.changes);
  return { byAi: new Map(found.versions.map((name) => [name, changes.get(name)])), last: found.last };
}
