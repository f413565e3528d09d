/** Grants by application, project, person and record, now and as of any point in time (docs/spec/decisions.md, section 9). */
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/access/caller.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import { type Micros, nowMicros } from '#src/shared/time/time.ts';
import { type Page, type PageAsked, readPage } from '../admin/page.ts';

/** A grant as of the requested time; times are microseconds since 1970. */
export interface GrantRow {
  readonly id: string;
  /** The Patient's real id. */
  readonly record: string;
  /** The id by which the application knows the Patient. */
  readonly patient: string;
  readonly application_id: string;
  /** The project to which the application belongs. */
  readonly project: string;
  readonly environment: Environment;
  readonly sector: string;
  readonly issuer: string;
  readonly subject: string;
  readonly pairwise_subject: string;
  readonly scopes: readonly string[];
  readonly purpose: string | null;
  readonly granted_by: 'patient' | 'representative' | 'creator';
  /** When access was granted. */
  readonly created_at: Micros;
  readonly expires_at: Micros;
  /** The language of the sentences. */
  readonly lang: string;
  /** The sentences that the person read and allowed. */
  readonly sentences: readonly string[];
  /** Null if no event has ended the grant. */
  readonly ended_at: Micros | null;
  /** `expired`, or the reason in `ConsentRevoked`; null if `ended_at` is null. */
  readonly end_reason: string | null;
  readonly owner_project: string;
  readonly owner_environment: Environment;
  readonly status: GrantStatus;
  readonly application_name: string | null;
  readonly application_kind: string | null;
  readonly privacy_url: string | null;
  /** The name of the application's organization. */
  readonly organization: string | null;
}

/** States of a grant (docs/spec/interface.md, section 3). */
export type GrantStatus = 'active' | 'revoked' | 'expired';

/** The grants to return: those that meet every given condition. At least one condition must be given. */
export interface GrantsAsked extends PageAsked {
  readonly application?: string | undefined;
  /** The project to which the application belongs. */
  readonly project?: string | undefined;
  readonly environment?: Environment | undefined;
  readonly person?: PersonId | undefined;
  /** A Patient's real id. */
  readonly record?: string | undefined;
  /** The id by which applications know a Patient. */
  readonly patient?: string | undefined;
  /** Shows grants as of this time, in microseconds; default: now. */
  readonly at?: Micros | undefined;
}

/** The data about a grant that remains after a purge; times are microseconds since 1970. */
export interface ErasedGrant {
  readonly id: string;
  readonly application_id: string;
  readonly granted_at: Micros;
  readonly ended_at: Micros;
}

/** Queries about grants. */
export interface GrantQueries {
  /**
   * Reads grants, newest first, including ended grants.
   * @throws Refusal invalid (422) for a cursor from a different list
   */
  readonly listGrants: (asked: GrantsAsked) => Promise<Page<GrantRow>>;
  /** Reads a grant's current state; undefined if it doesn't exist. */
  readonly grant: (id: string) => Promise<GrantRow | undefined>;
  /** Reads the active grant for an application, a person and a record; undefined if there is none. */
  readonly activeGrant: (
    application: string,
    person: PersonId,
    record: string,
  ) => Promise<GrantRow | undefined>;
  /** Reads an application's grants on records that have since been purged, oldest first, at most 1,000. */
  readonly listErasedGrants: (application: string, at?: Micros) => Promise<readonly ErasedGrant[]>;
}

/** No event is later. */
const LATEST = Number.MAX_SAFE_INTEGER;

/**
 * Returns SQL for a grant's columns as of a given time.
 * @param until placeholder of the time after which events don't count
 * @param clock placeholder of the time at which to decide whether a grant has expired
 */
const columns = (until: string, clock: string): string => `
  g.grant_id as id, g.record, g.patient, g.application_id, g.project, g.environment, g.sector, g.issuer, g.subject,
  g.pairwise_subject, g.scopes, g.purpose, g.granted_by, g.granted_at as created_at, g.expires_at, g.lang, g.sentences,
  case when g.ended_at <= ${until} then g.ended_at end as ended_at,
  case when g.ended_at <= ${until} then g.end_reason end as end_reason,
  g.owner_project, g.owner_environment,
  case when g.ended_at <= ${until} and g.end_reason <> 'expired' then 'revoked'
       when g.ended_at <= ${until} or g.expires_at <= ${clock} then 'expired'
       else 'active' end as status,
  a.name as application_name, a.kind as application_kind, a.privacy_url, o.name as organization`;

/** Joins the application's current names. The application may have been deleted. */
const FROM = `
  from consents.grants g
  left join projects.application a on a.id = g.application_id
  left join projects.project p on p.id = g.project
  left join projects.organization o on o.id = p.organization`;

/**
 * Conditions by name; `?` and `!` stand for the values. A condition that isn't given must not be in the statement, because its
 * index wouldn't be used.
 */
const CONDITIONS = {
  application: 'g.application_id = ?',
  project: 'g.project = ?',
  environment: 'g.environment = ?',
  record: 'g.record = ?::uuid',
  patient: 'g.patient = ?::uuid',
  issuer: 'g.issuer = ?',
  subject: 'g.subject = ?',
} as const;

/** Creates the queries. */
export function openGrants(pool: Pool): GrantQueries {
  return {
    listGrants({ at, limit, cursor, person, ...asked }) {
      const filters = { ...asked, ...person };
      const given = Object.entries(CONDITIONS).flatMap(([name, sql]) => {
        const value = Object.entries(filters).find(([key]) => key === name)?.[1];
        return value === undefined ? [] : [{ name, sql, value }];
      });
      if (given.length === 0) throw new TypeError('a list of grants needs a condition');
      const where = given.map(({ sql }, index) => sql.replace('?', `$${index + 3}`)).join(' and ');
      const list = {
        name: `grants-${given.map(({ name }) => name).join('-')}`,
        rows: (after: string) => `
select ${columns('$1::int8', '$2::int8')} ${FROM}
 where ${where} and g.granted_at <= $1::int8 ${after && `and (g.granted_at, g.grant_id) ${after}`}`,
        values: [at ?? LATEST, at ?? nowMicros(), ...given.map(({ value }) => value)],
      };
      return readPage<GrantRow>(pool, list, { limit, cursor });
    },
    async grant(id) {
      // Index: primary key of consents.grants (grant_id).
      const { rows } = await pool.query<GrantRow>({
        name: 'grant',
        text: `select ${columns('$1::int8', '$2::int8')} ${FROM} where g.grant_id = $3`,
        values: [LATEST, nowMicros(), id],
      });
      return rows[0];
    },
    async activeGrant(application, { issuer, subject }, record) {
      // Index: consents.grants_of_record.
      const { rows } = await pool.query<GrantRow>({
        name: 'active-grant',
        text: `select ${columns('$1::int8', '$2::int8')} ${FROM}
          where g.record = $3::uuid and g.application_id = $4 and g.issuer = $5 and g.subject = $6
            and g.ended_at is null and g.expires_at > $2::int8
          order by g.granted_at desc limit 1`,
        values: [LATEST, nowMicros(), record, application, issuer, subject],
      });
      return rows[0];
    },
    async listErasedGrants(application, at = LATEST) {
      // Index: consents.erased_grants_of_application.
      const { rows } = await pool.query<ErasedGrant>({
        name: 'erased-grants',
        text: `select e.grant_id as id, e.application_id, e.granted_at, e.ended_at from consents.erased_grants e
          where e.application_id = $1 and e.granted_at <= $2 order by e.granted_at, e.grant_id limit 1000`,
        values: [application, at],
      });
      return rows;
    },
  };
}
