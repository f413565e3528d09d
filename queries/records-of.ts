/** Finds the records to which resources belong, for the access log. */
import type { Pool } from 'pg';
import type { Sees } from '#src/shared/access/caller.ts';

/**
 * Returns the record (its Patient's id) for each of the given ids that identifies one of the owner's resources, including
 * deleted resources, or an automatic Provenance. All other ids are absent, as are directory entries.
 */
export type RecordsOf = (sees: Sees, ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;

// Indexes: primary key of resources.resource (id); history.version_event (event_id).
const RECORDS = `
select r.id, r.record from resources.resource r
 where r.id = any($1::uuid[]) and r.tenant = $2 and r.record is not null
union all
select v.event_id, v.record from history.version v
 where v.event_id = any($1::uuid[]) and v.tenant = $2 and v.record is not null`;

/** Creates the query. It is only used for resources that have already been found for the caller. */
export function openOwningRecords(pool: Pool): RecordsOf {
  return async ({ ownerId }, ids) => {
    if (ids.length === 0) return new Map();
    const { rows } = await pool.query<{ id: string; record: string }>({
      name: 'records-of',
      text: RECORDS,
      values: [ids, ownerId],
    });
    return new Map(rows.map(({ id, record }) => [id, record]));
  };
}
