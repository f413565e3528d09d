/** Finds which resources belong to a granted record, regardless of which project owns the record. */
import type { Pool } from 'pg';
import { isUuid } from '#src/shared/ids.ts';

/** The query. The record that it searches comes from a grant, never from a request. */
export interface GrantedQueries {
  /**
   * Returns those of the given ids whose resources are in the record or in the directory of the record's project, including
   * deleted resources.
   */
  readonly withinRecord: (record: string, ids: readonly string[]) => Promise<ReadonlySet<string>>;
}

// Index: primary key of resources.resource (id).
const WITHIN = `
  select r.id from resources.resource r
  join resources.resource p on p.id = $2 and p.tenant = r.tenant
  where r.id = any($1::uuid[]) and (r.record is null or r.record = p.id)`;

/** Creates the query on a database. */
export function openGranted(pool: Pool): GrantedQueries {
  return {
    async withinRecord(record, ids) {
      const known = ids.filter(isUuid);
      if (known.length === 0) return new Set();
      const values = [known, record];
      const { rows } = await pool.query<{ id: string }>({ name: 'granted-within', text: WITHIN, values });
      return new Set(rows.map(({ id }) => id));
    },
  };
}
