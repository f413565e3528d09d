/** Finds the stream that contains a resource, for the write side. Deleted resources are found too. */
import type { Pool } from 'pg';
import { directoryStream, recordStream } from '#src/events/streams.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { Letters } from '#src/shared/access/access.ts';
import type { Caller, Sees } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { gather } from './database/gather.ts';
import { prepared } from './database/prepared.ts';
import { bindTo, lettersOn, seenProvenances } from './sight.ts';

/** A resource's place. */
export interface LocatedResource {
  readonly type: ResourceType;
  readonly id: string;
  readonly stream: string;
  readonly version: number;
  readonly deleted: boolean;
  /** True for a Provenance that is generated from an event. */
  readonly automatic?: boolean;
  /** Under a grant: the letters of `ruds` that the grant has on the resource's current version, at least one. */
  readonly letters?: Letters;
}

/** Finds resources by id; hidden resources are absent, as if they had never existed. */
export type Locate = (
  caller: Caller,
  ids: readonly string[],
) => Promise<ReadonlyMap<string, LocatedResource>>;

interface Key {
  readonly tenant: string;
  readonly ids: readonly string[];
}

// Index: primary key of resources.resource (id).
const LOCATE = `
  select r.id, r.tenant, r.type, r.stream, r.version, r.deleted
  from resources.resource r
  where r.id = any($1::uuid[]) and r.tenant = any($2::uuid[])`;

// Uses the same index. Under a grant, the statement isn't shared with other callers.
const located = (letters: string): string => `
  select l.* from (
    select r.id, r.type, r.stream, r.version, r.deleted, ${letters} as letters
    from resources.resource r
    where r.id = any($1::uuid[]) and r.tenant = $2 offset 0) l
  where l.letters <> ''`;

// Index: history.version (event_id). Asked only for ids that are no resource's.
const automatic = (seen: string): string => `
  select v.event_id as id, v.record
  from history.version v
  where v.event_id = any($1::uuid[]) and v.tenant = $2 ${seen}`;

/** Creates the lookup on a database; lookups that arrive at the same time share a statement. */
export function openLocate(pool: Pool): Locate {
  const gathered = gather<Key, ReadonlyMap<string, LocatedResource>>(async (keys) => {
    const { rows } = await pool.query<LocatedResource & { tenant: string }>({
      name: 'locate',
      text: LOCATE,
      values: [[...new Set(keys.flatMap(({ ids }) => ids))], [...new Set(keys.map(({ tenant }) => tenant))]],
    });
    const found = new Map(rows.map((row) => [row.id, row]));
    return keys.map(({ tenant, ids }) => {
      const own = new Map<string, LocatedResource>();
      for (const id of ids) {
        const row = found.get(id);
        if (row?.tenant === tenant) {
          const { type, stream, version, deleted } = row;
          own.set(id, { type, id, stream, version, deleted });
        }
      }
      return own;
    });
  });
  return async (caller, ids) => {
    const known = ids.filter(isUuid);
    if (known.length === 0) return new Map();
    const { sees } = caller;
    const found =
      sees.within === undefined
        ? await gathered({ tenant: sees.ownerId, ids: known })
        : await granted(pool, sees, known);
    return found.size === new Set(known).size ? found : withAutomatic(pool, sees, known, found);
  };
}

/** Letters that allow an application to learn that a resource exists. */
const LETTERS = 'ruds';

async function granted(
  pool: Pool,
  sees: Sees,
  ids: readonly string[],
): Promise<ReadonlyMap<string, LocatedResource>> {
  const values: unknown[] = [ids, sees.ownerId];
  const text = located(lettersOn(sees, LETTERS, 'r', bindTo(values)));
  const { rows } = await pool.query<LocatedResource>(prepared(text, values));
  return new Map(rows.map((row) => [row.id, row]));
}

async function withAutomatic(
  pool: Pool,
  sees: Sees,
  ids: readonly string[],
  found: ReadonlyMap<string, LocatedResource>,
): Promise<ReadonlyMap<string, LocatedResource>> {
  const { owner, ownerId } = sees;
  const values = [ids.filter((id) => !found.has(id)), ownerId];
  const { rows } = await pool.query<{ id: string; record: string | null }>(
    seenProvenances(sees, { name: 'locate-automatic', values }, 'r', (_, seen) => automatic(seen())),
  );
  const all = new Map(found);
  for (const { id, record } of rows) {
    const stream = record === null ? directoryStream(owner) : recordStream(record);
    all.set(id, { type: 'Provenance', id, stream, version: 1, deleted: false, automatic: true });
  }
  return all;
}
