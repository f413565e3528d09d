/**
 * Sessions: they end after 12 hours, or after 30 idle minutes, by the database's clock (docs/spec/decisions.md, section 9).
 * Every request queries the database, so that signing out takes effect on all instances at once.
 */
import type pg from 'pg';
import type { Identity } from '#src/shared/access/identity.ts';
import type { OwnSession, Session } from '#src/shared/access/session.ts';
import { derived, isSecret, newSecret, secretHash } from './secrets.ts';

type Client = Pick<pg.Pool, 'query'>;

/** The SQL condition that a row of `operations.session s` is live. */
export const LIVE =
  "s.started_at > now() - interval '12 hours' AND s.used_at > now() - interval '30 minutes'";

/** Stores the person, ends the browser's earlier session, and starts a new one. */
const START = `
WITH person AS (
  INSERT INTO operations.person AS p (issuer, subject, name, email, email_verified, signed_in_at, session_ended_at)
  VALUES ($2, $3, $4, $5, $6, now(), now())
  ON CONFLICT (issuer, subject) DO UPDATE SET name = excluded.name, email = excluded.email,
    email_verified = excluded.email_verified, signed_in_at = now(), session_ended_at = now()
  RETURNING issuer, subject
), earlier AS (
  DELETE FROM operations.session WHERE id_sha256 = $8 RETURNING issuer, subject
), ended AS (
  UPDATE operations.person p SET session_ended_at = now() FROM earlier e
   WHERE p.issuer = e.issuer AND p.subject = e.subject AND (p.issuer, p.subject) <> ($2, $3)
)
INSERT INTO operations.session (id_sha256, issuer, subject, auth_time, sso_client, started_at, used_at)
SELECT $1, issuer, subject, to_timestamp($7), $9, now(), now() FROM person`;

/**
 * Records the use at most once a minute; otherwise, the statement writes nothing. A session from an issuer that only
 * organizations trust works as long as at least one of them has the issuer in its settings. Index:
 * projects.organization_sso_issuer.
 */
const FIND = `
WITH used AS (
  UPDATE operations.session s SET used_at = now()
   WHERE s.id_sha256 = $1 AND s.used_at < now() - interval '1 minute' AND ${LIVE}
)
SELECT p.issuer, p.subject, p.name, p.email, p.email_verified,
       extract(epoch FROM s.started_at)::float8 AS started_at, extract(epoch FROM s.auth_time)::float8 AS auth_time,
       t.organizations
  FROM operations.session s JOIN operations.person p USING (issuer, subject)
  LEFT JOIN LATERAL (
    SELECT array_agg(o.id) AS organizations FROM projects.organization o
     WHERE o.sso_issuer = s.issuer AND o.sso_client_id = s.sso_client) t ON s.sso_client IS NOT NULL
 WHERE s.id_sha256 = $1 AND ${LIVE}
   AND CASE WHEN s.sso_client IS NULL THEN s.issuer = ANY($2) ELSE t.organizations IS NOT NULL END`;

/** Ends sessions that match a condition on `s`. */
const endWhere = (condition: string): string => `
WITH ended AS (DELETE FROM operations.session s WHERE ${condition} RETURNING s.issuer, s.subject)
UPDATE operations.person p SET session_ended_at = now() FROM ended e
 WHERE p.issuer = e.issuer AND p.subject = e.subject`;

const END = endWhere('s.id_sha256 = $1');

/** Identifies a session to its person; the stored hash can't be derived from this id. */
const PUBLIC_ID = "'sess_' || left(encode(sha256('public id of session '::bytea || s.id_sha256), 'hex'), 32)";

/** Index: operations.session_of. */
const LIST = `
SELECT ${PUBLIC_ID} AS id, s.id_sha256 IS NOT DISTINCT FROM $3::bytea AS current,
       extract(epoch FROM s.started_at)::float8 AS started_at, extract(epoch FROM s.used_at)::float8 AS used_at
  FROM operations.session s
 WHERE s.issuer = $1 AND s.subject = $2 AND ${LIVE}
 ORDER BY current DESC, s.started_at DESC, s.id_sha256
 LIMIT 100`;

const OWN = 's.issuer = $1 AND s.subject = $2';
const END_ONE = endWhere(`${OWN} AND ${PUBLIC_ID} = $3`);
const END_OTHERS = endWhere(`${OWN} AND s.id_sha256 IS DISTINCT FROM $3::bytea`);

interface Row {
  readonly issuer: string;
  readonly subject: string;
  readonly name: string | null;
  readonly email: string | null;
  readonly email_verified: boolean;
  readonly started_at: number;
  readonly auth_time: number | null;
  readonly organizations: string[] | null;
}

interface OwnRow {
  readonly id: string;
  readonly current: boolean;
  readonly started_at: number;
  readonly used_at: number;
}

/** An installation's sessions. */
export class Sessions {
  /**
   * @param issuers the installation's issuers: sessions from other issuers, including those that it no longer trusts, don't
   *   work
   */
  constructor(
    readonly client: Client,
    readonly issuers: readonly string[],
  ) {}

  /**
   * Starts a session with a new secret (which prevents session fixation), and ends the browser's earlier session.
   * @param authTime `auth_time` from the ID token, in seconds
   * @param earlier the secret that the browser has
   * @param ssoClient the client at an issuer that only organizations trust; undefined if the installation trusts the issuer
   * @returns the secret, which belongs only in the cookie
   */
  async start(
    { issuer, subject, name, email, emailVerified }: Identity,
    authTime: number | undefined,
    earlier?: string,
    ssoClient?: string,
  ): Promise<string> {
    const secret = newSecret();
    await this.client.query(START, [
      secretHash(secret),
      issuer,
      subject,
      name ?? null,
      email ?? null,
      emailVerified,
      authTime ?? null,
      isSecret(earlier) ? secretHash(earlier) : null,
      ssoClient ?? null,
    ]);
    return secret;
  }

  /** Returns the live session for a secret; undefined if there is none. */
  async find(secret: string): Promise<Session | undefined> {
    if (!isSecret(secret)) return undefined;
    const hash = secretHash(secret);
    const { rows } = await this.client.query<Row>({
      name: 'session-find',
      text: FIND,
      values: [hash, this.issuers],
    });
    const [row] = rows;
    if (row === undefined) return undefined;
    const { issuer, subject, name, email, email_verified, started_at, auth_time, organizations } = row;
    return {
      id: hash.toString('hex'),
      person: {
        issuer,
        subject,
        emailVerified: email_verified,
        ...(email === null ? {} : { email }),
        ...(name === null ? {} : { name }),
        ...(organizations === null ? {} : { organizations }),
      },
      startedAt: started_at,
      authTime: auth_time ?? undefined,
      formToken: derived(secret, 'forms'),
    };
  }

  /** Ends the session for a secret on every instance. */
  async end(secret: string): Promise<void> {
    if (isSecret(secret)) await this.client.query(END, [secretHash(secret)]);
  }

  /** Returns a person's live sessions; see the port for details. */
  async list({ issuer, subject }: Identity, current: string | undefined): Promise<readonly OwnSession[]> {
    const { rows } = await this.client.query<OwnRow>(LIST, [issuer, subject, toHash(current)]);
    return rows.map(({ id, current, started_at, used_at }) => ({
      id,
      current,
      startedAt: started_at,
      usedAt: used_at,
    }));
  }

  /** Ends one of a person's sessions; see the port for details. */
  async endOne({ issuer, subject }: Identity, id: string): Promise<boolean> {
    const { rowCount } = await this.client.query(END_ONE, [issuer, subject, id]);
    return rowCount !== 0;
  }

  /** Ends a person's other sessions; see the port for details. */
  async endOthers({ issuer, subject }: Identity, current: string | undefined): Promise<void> {
    await this.client.query(END_OTHERS, [issuer, subject, toHash(current)]);
  }
}

function toHash(session: string | undefined): Buffer | null {
  return session === undefined ? null : Buffer.from(session, 'hex');
}
