/** The ids that applications in a sector received with earlier grants (docs/spec/decisions.md, section 1). */
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/access/caller.ts';
import type { PersonId } from '#src/shared/access/identity.ts';

/** A sector: applications in one project and environment that share ids. */
export interface SectorAsked {
  readonly project: string;
  readonly environment: Environment;
  readonly sector: string;
}

/** Ids that a sector's applications know; undefined if no grant has given them one. */
export interface SectorIds {
  /** The Patient's pairwise id. */
  readonly patient: string | undefined;
  /** The person's pairwise `sub`. */
  readonly subject: string | undefined;
}

/**
 * Reads the ids for a record and a person, including ids from ended grants: the ids stay the same as long as the record
 * exists.
 */
export type IdsOfSector = (sector: SectorAsked, record: string, person: PersonId) => Promise<SectorIds>;

// Indexes: consents.grants_of_record, consents.grants_of_person.
const IDS = `
select
  (select g.patient from consents.grants g
    where g.record = $1::uuid and g.project = $2 and g.environment = $3 and g.sector = $4
    order by g.granted_at limit 1) as patient,
  (select g.pairwise_subject from consents.grants g
    where g.issuer = $5 and g.subject = $6 and g.project = $2 and g.environment = $3 and g.sector = $4
    order by g.granted_at limit 1) as subject`;

/** Opens the question. */
export function openIdsOfSector(pool: Pool): IdsOfSector {
  return async ({ project, environment, sector }, record, { issuer, subject }) => {
    const { rows } = await pool.query<{ patient: string | null; subject: string | null }>({
      name: 'ids-of-sector',
      text: IDS,
      values: [record, project, environment, sector, issuer, subject],
    });
    return { patient: rows[0]?.patient ?? undefined, subject: rows[0]?.subject ?? undefined };
  };
}
