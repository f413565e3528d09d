/**
 * Access requests from the perspective of the people who decide on them. A decision is one row, claimed before its grant is
 * written. So if a crash interrupts an approval, the approval is known and is completed later. The grant's id is derived from
 * the request's id, so the grant is written only once.
 */
import type { Pool } from 'pg';
import type { Environment } from '#src/shared/access/caller.ts';
import type { PersonId } from '#src/shared/access/identity.ts';

/** An approval whose grant doesn't exist yet. */
export interface Approval {
  readonly person: PersonId;
  /** The real id of the Patient. */
  readonly record: string;
  readonly grantedBy: 'patient' | 'representative';
  readonly days: number;
  /** Normalised. */
  readonly scope: string;
  readonly lang: string;
  /** The sentences that were shown to the person. */
  readonly sentences: readonly string[];
}

/** A decided request. */
export interface Decided {
  readonly id: string;
  readonly outcome: 'approved' | 'denied';
  /** Null for a denial, and while an approval is being carried out. */
  readonly grantId: string | null;
  readonly application: {
    readonly id: string;
    readonly project: string;
    readonly environment: Environment;
    readonly sector: string;
  };
  /** Null for a denial. */
  readonly approval: Approval | null;
  /** When the request was made, in ms since 1970. */
  readonly createdMs: number;
}

interface Row {
  readonly id: string;
  readonly outcome: 'approved' | 'denied';
  readonly grant_id: string | null;
  readonly application_id: string;
  readonly project: string;
  readonly environment: Environment;
  readonly sector: string;
  readonly issuer: string;
  readonly subject: string;
  readonly record: string | null;
  readonly granted_by: 'patient' | 'representative' | null;
  readonly days: number | null;
  readonly granted_scope: string | null;
  readonly lang: string | null;
  readonly sentences: string[] | null;
  readonly created_ms: number;
}

const DECIDED = `
select id, outcome, grant_id, application_id, project, environment, sector, issuer, subject, record, granted_by, days,
       granted_scope, lang, sentences, floor(extract(epoch from created_at) * 1000)::float8 as created_ms
  from operations.access_request where id = $1 and outcome is not null`;

/** The condition that a request is pending now. */
const PENDING = `r.outcome is null and r.expires_at > clock_timestamp()
   and exists (select from operations.access_request_turn t where t.sha256 = r.turn and t.newest = r.id)`;

const CLAIM = `
update operations.access_request r
   set outcome = 'approved', decided_at = clock_timestamp(), issuer = $2, subject = $3, record = $4, granted_by = $5,
       days = $6, granted_scope = $7, lang = $8, sentences = $9
 where r.id = $1 and ${PENDING}`;

const DENY = `
update operations.access_request r
   set outcome = 'denied', decided_at = clock_timestamp(), issuer = $2, subject = $3
 where r.id = $1 and ${PENDING}`;

const RELEASE = `
update operations.access_request
   set outcome = null, decided_at = null, issuer = null, subject = null, record = null, granted_by = null, days = null,
       granted_scope = null, lang = null, sentences = null
 where id = $1 and outcome = 'approved' and grant_id is null`;

const INTERRUPTED = `
select id from operations.access_request
 where outcome = 'approved' and grant_id is null and decided_at < clock_timestamp() - make_interval(secs => $1)
 order by decided_at limit 100`;

const MUTE = `
insert into operations.muted_application (issuer, subject, application_id, muted_at)
values ($1, $2, $3, clock_timestamp()) on conflict do nothing`;

const UNMUTE = `
update operations.muted_application set unmuted_at = clock_timestamp()
 where issuer = $1 and subject = $2 and application_id = $3 and unmuted_at is null`;

/** An installation's requests, from the perspective of the people who decide on them. */
export class RequestDecisions {
  constructor(private readonly pool: Pick<Pool, 'query'>) {}

  /** Returns a request that has been decided; undefined for any other request. */
  async decided(id: string): Promise<Decided | undefined> {
    const { rows } = await this.pool.query<Row>({
      name: 'access-request-decided',
      text: DECIDED,
      values: [id],
    });
    return rows[0] && toDecided(rows[0]);
  }

  /** Returns the ids of some approvals that have no grant and are older than the given number of seconds, oldest first. */
  async interrupted(seconds: number): Promise<readonly string[]> {
    const { rows } = await this.pool.query<{ id: string }>({
      name: 'access-requests-interrupted',
      text: INTERRUPTED,
      values: [seconds],
    });
    return rows.map(({ id }) => id);
  }

  /**
   * Claims a pending request for an approval.
   * @returns false if the request isn't pending
   */
  async claim(
    id: string,
    { person, record, grantedBy, days, scope, lang, sentences }: Approval,
  ): Promise<boolean> {
    const { issuer, subject } = person;
    const values = [id, issuer, subject, record, grantedBy, days, scope, lang, sentences];
    return (await this.pool.query({ name: 'access-request-claim', text: CLAIM, values })).rowCount === 1;
  }

  /** Makes a claimed request pending again, because its grant was refused. */
  async release(id: string): Promise<void> {
    await this.pool.query({ name: 'access-request-release', text: RELEASE, values: [id] });
  }

  /** Notes the grant for a claimed request. */
  async granted(id: string, grantId: string): Promise<void> {
    await this.pool.query({
      name: 'access-request-granted',
      text: "update operations.access_request set grant_id = $2 where id = $1 and outcome = 'approved'",
      values: [id, grantId],
    });
  }

  /**
   * Denies a pending request.
   * @returns false if the request isn't pending
   */
  async deny(id: string, { issuer, subject }: PersonId): Promise<boolean> {
    const { rowCount } = await this.pool.query({
      name: 'access-request-deny',
      text: DENY,
      values: [id, issuer, subject],
    });
    return rowCount === 1;
  }

  /** Hides an application's future requests from a person. */
  async mute({ issuer, subject }: PersonId, applicationId: string): Promise<void> {
    await this.pool.query({ name: 'mute', text: MUTE, values: [issuer, subject, applicationId] });
  }

  /**
   * Shows a person the requests that an application makes from now on; requests that it made while it was muted stay hidden.
   */
  async unmute({ issuer, subject }: PersonId, applicationId: string): Promise<void> {
    await this.pool.query({ name: 'unmute', text: UNMUTE, values: [issuer, subject, applicationId] });
  }
}

function toDecided(row: Row): Decided {
  const { record, granted_by: grantedBy, days, granted_scope: scope, lang, sentences } = row;
  const { issuer, subject, application_id: id, project, environment, sector } = row;
  const isWhole =
    record !== null &&
    grantedBy !== null &&
    days !== null &&
    scope !== null &&
    lang !== null &&
    sentences !== null;
  return {
    id: row.id,
    outcome: row.outcome,
    grantId: row.grant_id,
    application: { id, project, environment, sector },
    approval: isWhole
      ? { person: { issuer, subject }, record, grantedBy, days, scope, lang, sentences }
      : null,
    createdMs: row.created_ms,
  };
}
