/** Queries about sandboxes: the number of patients, the records that a reset has to purge, and sandboxes that are waiting. */
import type { Pool } from 'pg';
import { type Tenant, tenantId } from '#src/shared/access/caller.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** Queries about sandboxes. */
export interface SandboxQueries {
  /** Counts live patients: the ones with the given ids, and all others. */
  readonly sandboxPatients: (
    tenant: Tenant,
    synthetic: readonly string[],
  ) => Promise<{ readonly synthetic: number; readonly own: number }>;
  /** Reads the patients whose records were created before a given time. Deleted patients are included; purged ones aren't. */
  readonly recordsBefore: (tenant: Tenant, before: Micros) => Promise<string[]>;
  /**
   * Counts the sandboxes of open projects that have a waiting request made since the given time by the given person or in the
   * given organization.
   * @param person issuer and subject, separated by a space
   */
  readonly sandboxesWaiting: (
    person: string,
    organization: string | undefined,
    since: Micros,
  ) => Promise<number>;
}

// Index: resources.resource_by_id (tenant, type, id).
const PATIENTS = `
select count(*) filter (where r.id = any($2::uuid[]))::int as synthetic,
  count(*) filter (where r.id <> all($2::uuid[]))::int as own
from resources.resource r where r.tenant = $1 and r.type = 'Patient' and not r.deleted`;

// Index: history.version_of_tenant (tenant, type, recorded_at), which knows deleted ones, too.
const RECORDS = `
select v.id from history.version v
where v.tenant = $1 and v.type = 'Patient' and v.version = 1 and v.recorded_at < $2 order by v.recorded_at`;

// Index: projects.project_filling (filling_at), which contains only waiting ones.
const WAITING = `
select count(*)::int as waiting from projects.project p
where p.filling is not null and p.filling_at >= $3 and p.deleted_at is null
  and (p.filling_by = $1 or p.organization = $2)`;

/** Creates the queries. */
export function openSandboxQueries(pool: Pool): SandboxQueries {
  return {
    async sandboxPatients(tenant, synthetic) {
      const { rows } = await pool.query<{ synthetic: number; own: number }>({
        name: 'sandbox-patients',
        text: PATIENTS,
        values: [tenantId(tenant), synthetic],
      });
      return rows[0] ?? { synthetic: 0, own: 0 };
    },
    async recordsBefore(tenant, before) {
      const { rows } = await pool.query<{ id: string }>({
        name: 'sandbox-records',
        text: RECORDS,
        values: [tenantId(tenant), before],
      });
      return rows.map(({ id }) => id);
    },
    async sandboxesWaiting(person, organization, since) {
      const { rows } = await pool.query<{ waiting: number }>({
        name: 'sandboxes-waiting',
        text: WAITING,
        values: [person, organization, since],
      });
      return rows[0]?.waiting ?? 0;
    },
  };
}
