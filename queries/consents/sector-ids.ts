/** The ids that earlier grants gave to applications of a sector (docs/spec/decisions.md, section 1). */
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/access/caller.ts';
import type { PersonId } from '#src/shared/access/identity.ts';

/** A sector: applications of one project and environment that share ids. */
export interface SectorAsked {
  readonly project: string;
  readonly environment: Environment;
  readonly sector: string;
}

/** Ids that applications of a sector know; undefined where no grant has given one. */
export interface SectorIds {
  /** Pairwise id of the Patient. */
  readonly patient: string | undefined;
  /** Pairwise `sub` of the person. */
  readonly subject: string | undefined;
}

/** Reads them for a record and a person, ended grants included: ids stay the same for as long as the record exists. */
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
