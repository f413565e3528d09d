/** Finds which of the given Patients belong to a project, for the identity grant (docs/spec/decisions.md, section 7). */
import type { Pool } from 'pg';
import { type Tenant, tenantId } from '#src/shared/access/caller.ts';

/** Returns the ids of those records whose Patient was created by a project and isn't deleted. */
export type PatientsOfProject = (owner: Tenant, records: readonly string[]) => Promise<ReadonlySet<string>>;

/** Opens the question. */
export function openPatientsOfProject(pool: Pool): PatientsOfProject {
  return async (owner, records) => {
    // Index: primary key of resources.resource.
    const { rows } = await pool.query<{ id: string }>({
      name: 'patients-of-project',
      text: `select r.id from resources.resource r
              where r.id = any($1::uuid[]) and r.type = 'Patient' and r.tenant = $2::uuid and not r.deleted`,
      values: [records, tenantId(owner)],
    });
    return new Set(rows.map(({ id }) => id));
  };
}
