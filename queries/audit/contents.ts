/** Reads the contents of a page's events, for auditors: the text of versions and of live patients. */
import type { Pool } from 'pg';
import { MOST_BYTES } from '../rest/record-versions.ts';
import type { EventRow } from './events.ts';

/** Queries about event contents. */
export interface EventContents {
  /**
   * Returns the text of versions by event id; for a deletion, the text of the last version before it. Large versions are
   * absent.
   */
  readonly versionTexts: (rows: readonly EventRow[]) => Promise<ReadonlyMap<string, string>>;
  /** Returns the text of Patients by id; deleted Patients are absent. */
  readonly patientTexts: (ids: readonly string[]) => Promise<ReadonlyMap<string, string>>;
}

// Index: primary key of history.version (id, version).
const VERSIONS = `
select v.event_id as id, t.body
  from unnest($1::uuid[], $2::int[]) as x(id, version)
  join history.version v on v.id = x.id and v.version = x.version
  cross join lateral (
    select p.body from history.version p where p.id = v.id and p.version <= v.version and p.body is not null
     order by p.version desc limit 1) t
 where octet_length(t.body) < ${MOST_BYTES}`;

// Index: primary key of resources.resource.
const PATIENTS = `
select r.id, r.body from resources.resource r where r.id = any($1::uuid[]) and r.type = 'Patient' and not r.deleted`;

/** Creates the queries. */
export function openEventContents(pool: Pool): EventContents {
  const read = async (
    name: string,
    text: string,
    values: unknown[],
  ): Promise<ReadonlyMap<string, string>> => {
    const { rows } = await pool.query<{ id: string; body: string | null }>({ name, text, values });
    return new Map(rows.flatMap(({ id, body }) => (body === null ? [] : [[id, body]])));
  };
  return {
    async versionTexts(rows) {
      const versions = rows.filter(({ version }) => version !== null);
      if (versions.length === 0) return new Map();
      return read('audit-version-texts', VERSIONS, [
        versions.map(({ resource_id }) => resource_id),
        versions.map(({ version }) => version),
      ]);
    },
    async patientTexts(ids) {
      if (ids.length === 0) return new Map();
      return read('audit-patient-texts', PATIENTS, [[...new Set(ids)]]);
    },
  };
}
