/**
 * Access requests that a person may decide on (docs/spec/decisions.md, section 7): requests addressed to the person's verified
 * address, the person's `sub`, or the pairwise id of a record that the person has. A request that an application made while
 * the person had it muted is never included.
 */
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/access/caller.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { type Page, type PageAsked, readPage } from '../admin/page.ts';

/** The states of an access request (docs/spec/decisions.md, section 7). */
export const REQUEST_STATUSES = ['pending', 'approved', 'denied', 'expired'] as const;

/** A state. */
export type RequestStatus = (typeof REQUEST_STATUSES)[number];

/** An access request as a person sees it. */
export interface AccessRequestRow {
  readonly id: string;
  readonly status: RequestStatus;
  readonly environment: Environment;
  readonly client_id: string;
  readonly application_id: string;
  readonly application_name: string;
  readonly application_kind: string;
  readonly privacy_url: string | null;
  /** The name of the application's organization. */
  readonly organization: string;
  /** The requested scopes, normalised. */
  readonly scope: string;
  readonly binding_message: string | null;
  /** The real id of the Patient that the application specified; null if it specified a person. */
  readonly named: string | null;
  readonly created_at: Micros;
  readonly expires_at: Micros;
  readonly decided_at: Micros | null;
  /** The real id of the approved record's Patient; null if the request wasn't approved, as are the next two members. */
  readonly record: string | null;
  readonly granted_scope: string | null;
  readonly grant_id: string | null;
}

/** A person and their records. */
export interface RequestsOf {
  readonly person: PersonId;
  /** The person's verified address; undefined if there is none. */
  readonly email: string | undefined;
  /** The real ids of the person's current Patients. */
  readonly records: readonly string[];
  readonly environment: Environment;
}

/** An application that a person has muted. */
export interface MutedRow {
  /** The id of the muted application. */
  readonly id: string;
  readonly name: string | null;
  /** When it was muted. */
  readonly created_at: Micros;
}

/** Queries about access requests. */
export interface AccessRequestQueries {
  /**
   * Reads a person's requests from the last day, newest first.
   * @throws Refusal invalid (422) for a cursor from a different list
   */
  readonly accessRequests: (
    of: RequestsOf,
    asked: PageAsked & { readonly status?: RequestStatus | undefined },
  ) => Promise<Page<AccessRequestRow>>;
  /** Reads one of the person's requests; undefined if the person has no such request. */
  readonly accessRequest: (of: RequestsOf, id: string) => Promise<AccessRequestRow | undefined>;
  /** Reads a request's environment, so that the caller knows where to look; undefined for an unknown request. */
  readonly environmentOfRequest: (id: string) => Promise<Environment | undefined>;
  /**
   * Reads the applications that a person has muted, newest first.
   * @param asked if `environment` is undefined, reads both environments
   */
  readonly mutedBy: (
    person: PersonId,
    asked: PageAsked & { readonly environment?: Environment | undefined },
  ) => Promise<Page<MutedRow>>;
}

const micros = (column: string): string => `(extract(epoch from ${column}) * 1000000)::int8`;

// Indexes: consents.grants_of_person, consents.grants_of_record, operations.access_request_of_hint. Several people may
// have the same address or record: they must not see another person's decision. A link that ended since the request was
// made has ended the request for that person, also if they were linked again.
const VISIBLE = `
with hints as (
  select 'email' as kind, $3::text as hint, null as project, null as environment, null as sector, null::uuid as record
   where $3 is not null
  union select 'subject', g.pairwise_subject, g.project, g.environment, g.sector, null
    from consents.grants g where g.issuer = $1 and g.subject = $2
  union select 'patient', g.patient::text, g.project, g.environment, g.sector, g.record
    from consents.grants g where g.record = any($4::uuid[])
)
select r.id, r.status, r.environment, r.client_id, r.application_id, a.name as application_name,
       a.kind as application_kind, a.privacy_url, o.name as organization, r.scope, r.binding_message,
       h.record as named, ${micros('r.created_at')} as created_at, ${micros('r.expires_at')} as expires_at,
       ${micros('r.decided_at')} as decided_at, r.record, r.granted_scope, r.grant_id
  from hints h
  join operations.access_request_now r on r.hint = h.hint and r.hint_kind = h.kind
   and (h.project is null or (r.project = h.project and r.environment = h.environment and r.sector = h.sector))
  join projects.application a on a.id = r.application_id and a.deleted_at is null
  join projects.project p on p.id = a.project and p.deleted_at is null
  join projects.organization o on o.id = p.organization
 where r.environment = $5
   and (r.issuer is null or (r.issuer = $1 and r.subject = $2))
   and not exists (
     select from operations.muted_application m
      where m.issuer = $1 and m.subject = $2 and m.application_id = r.application_id
        and r.created_at >= m.muted_at and (m.unmuted_at is null or r.created_at < m.unmuted_at))
   and not exists (
     select from consents.links l
      where l.record = h.record and l.issuer = $1 and l.subject = $2 and l.unlinked_at >= ${micros('r.created_at')})`;

const bindRequest = ({ person, email, records, environment }: RequestsOf): unknown[] => [
  person.issuer,
  person.subject,
  email?.toLowerCase() ?? null,
  records,
  environment,
];

/** Creates the queries. */
export function openAccessRequests(pool: Pool): AccessRequestQueries {
  return {
    accessRequests: (of, { status, ...asked }) =>
      readPage<AccessRequestRow>(
        pool,
        {
          name: `access-requests${status === undefined ? '' : '-in-state'}`,
          rows: `${VISIBLE}${status === undefined ? '' : ' and r.status = $6'}`,
          values: [...bindRequest(of), ...(status === undefined ? [] : [status])],
        },
        asked,
      ),
    async accessRequest(of, id) {
      const { rows } = await pool.query<AccessRequestRow>({
        name: 'access-request',
        text: `${VISIBLE} and r.id = $6`,
        values: [...bindRequest(of), id],
      });
      return rows[0];
    },
    async environmentOfRequest(id) {
      const { rows } = await pool.query<{ environment: Environment }>({
        name: 'access-request-environment',
        text: 'select environment from operations.access_request where id = $1',
        values: [id],
      });
      return rows[0]?.environment;
    },
    mutedBy: ({ issuer, subject }, { environment, ...asked }) =>
      readPage<MutedRow>(
        pool,
        {
          name: `muted-applications${environment === undefined ? '' : '-of-environment'}`,
          // Index: operations.muted_application_now.
          rows: `select m.application_id as id, a.name, ${micros('m.muted_at')} as created_at
            from operations.muted_application m left join projects.application a on a.id = m.application_id
           where m.issuer = $1 and m.subject = $2 and m.unmuted_at is null
             ${environment === undefined ? '' : 'and a.environment = $3'}`,
          values: [issuer, subject, ...(environment === undefined ? [] : [environment])],
        },
        asked,
      ),
  };
}
