/**
 * Finds the versions of a record's resources that an AI wrote: they are never presented as facts
 * (docs/spec/interface.md, section 2.5).
 */
import type { AuthorType } from '#src/shared/author.ts';
import { unavailable } from '#src/shared/refusal.ts';
import type { Queryable } from '../gather.ts';

const AI: AuthorType = 'ai';

/**
 * Index: history.version_of_record (record, recorded_at, event_id), for every version of the record once, and
 * for its end backwards; resources.resource_of_record (record, type, id). The tenant is checked without an
 * index: without statistics the planner would otherwise read all of the tenant's rows. Metadata is parsed
 * only where the text may name an AI.
 */
const AI_VERSIONS = `
  select
    array(
      select v.type || '/' || v.id || '/_history/' || v.version
      from history.version v
      where v.record = $1::uuid and (v.tenant = $2::uuid) is true
        and strpos(v.metadata, '"type":"' || $3::text || '"') > 0
        and v.metadata::jsonb #>> '{author,type}' = $3
    ) as versions,
    (select max(r.last_updated) from resources.resource r where r.record = $1::uuid)
      <= (select max(v.recorded_at) from history.version v where v.record = $1::uuid) as complete`;

/**
 * Returns the versions of a record's resources that an AI wrote, as `Type/id/_history/n`. Called after the
 * resources were read, so that it covers all their versions.
 * @throws Refusal unavailable (503) while the read model history lacks a version of the record that
 * `resources` has.
 */
export async function aiVersions(
  database: Queryable,
  tenant: string,
  record: string,
): Promise<ReadonlySet<string>> {
  const { rows } = await database.query<{ versions: string[]; complete: boolean | null }>({
    name: 'ai-versions',
    text: AI_VERSIONS,
    values: [record, tenant, AI],
  });
  const [found] = rows;
  if (found?.complete !== true) throw unavailable('the read model history lags behind the record');
  return new Set(found.versions);
}
