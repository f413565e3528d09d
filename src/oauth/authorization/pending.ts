/**
 * Authorization requests that wait for a person. Each is a row under a handle. The row is bound to the session that last
 * opened it and to that session's browser, so two tabs or a detour through sign-in don't mix up requests, and a leaked handle
 * opens nothing elsewhere. Before any session has opened it, a handle is worth no more than the URL of the request, which
 * anyone can write. Rows don't identify a person; handles and cookies are stored only as SHA-256.
 */
import { createHash, randomBytes } from 'node:crypto';
import type pg from 'pg';
import { z } from 'zod';
import type { Parameters } from './request.ts';

/** The DDL of a separate migration. */
export const AUTHORIZATION_REQUEST_SQL = `
CREATE TABLE operations.authorization_request (
  handle_sha256 bytea PRIMARY KEY,
  browser_sha256 bytea,                -- of the cookie of the session's browser: it may open it in a later session
  session text,                        -- id of the session that opened it last
  parameters text NOT NULL,            -- JSON: pairs of name and value, as they came
  created_at timestamptz NOT NULL,
  expires_at timestamptz NOT NULL,
  decided_at timestamptz
);
CREATE INDEX authorization_request_expires ON operations.authorization_request (expires_at);`;

/** The DDL of a later migration. */
export const AUTHORIZATION_OUTCOME_SQL = `
ALTER TABLE operations.authorization_request ADD COLUMN outcome text;  -- allowed, denied; null until it is carried out`;

/** How long a person has to decide, including the time for signing in. */
const LIFETIME = '1 hour';

const CREATED = 'extract(epoch FROM created_at)::float8 AS created_at';

const HANDLE = /^[\w-]{43}$/;

/** Inserts a row, and deletes some expired rows. */
const SAVE = `
WITH expired AS (
  DELETE FROM operations.authorization_request WHERE handle_sha256 IN (
    SELECT handle_sha256 FROM operations.authorization_request WHERE expires_at <= now()
     ORDER BY expires_at LIMIT 20 FOR UPDATE SKIP LOCKED)
)
INSERT INTO operations.authorization_request (handle_sha256, parameters, created_at, expires_at)
VALUES ($1, $2, now(), now() + interval '${LIFETIME}')`;

const OPEN = `
UPDATE operations.authorization_request
   SET browser_sha256 = CASE WHEN $3::text IS NULL THEN browser_sha256 ELSE $2 END, session = coalesce($3, session)
 WHERE handle_sha256 = $1 AND expires_at > now() AND decided_at IS NULL
   AND (session IS NULL OR session = $3 OR browser_sha256 = $2)
RETURNING parameters, ${CREATED}`;

/** The person's page shows this session's form; no later sign-in has replaced it. */
const FIND = `
SELECT parameters, ${CREATED} FROM operations.authorization_request
 WHERE handle_sha256 = $1 AND session = $2 AND expires_at > now() AND decided_at IS NULL`;

const DECIDE = `
UPDATE operations.authorization_request SET decided_at = now()
 WHERE handle_sha256 = $1 AND session = $2 AND expires_at > now() AND decided_at IS NULL
RETURNING parameters, ${CREATED}`;

const ANSWERED = `
SELECT parameters, ${CREATED}, outcome FROM operations.authorization_request
 WHERE handle_sha256 = $1 AND session = $2 AND expires_at > now() AND decided_at IS NOT NULL`;

/** A person's decision. */
export type Outcome = 'allowed' | 'denied';

/** A request that waits for a decision. */
export interface PendingRequest {
  readonly parameters: Parameters;
  /** When it arrived, in seconds since 1970 by the database's clock, as for a session's `startedAt`. */
  readonly createdAt: number;
}

/** The browser and session in which a person opens a request. */
export interface Opener {
  /** The secret in the browser's cookie. */
  readonly browser: string;
  /** The id of the session; undefined before sign-in. */
  readonly session: string | undefined;
}

const pairs = z.array(z.tuple([z.string(), z.string()]));

/** An installation's pending requests. */
export class PendingRequests {
  constructor(readonly client: Pick<pg.Pool, 'query'>) {}

  /**
   * Saves a request.
   * @returns its handle, 256 random bits
   */
  async save(parameters: Parameters): Promise<string> {
    const handle = randomBytes(32).toString('base64url');
    await this.client.query(SAVE, [sha256(handle), JSON.stringify(parameters)]);
    return handle;
  }

  /**
   * Returns a request and binds it to the opener; undefined if the request is unknown, expired, decided, or bound to another
   * browser.
   */
  async open(handle: string, { browser, session }: Opener): Promise<PendingRequest | undefined> {
    if (!HANDLE.test(handle)) return undefined;
    return this.#one(OPEN, [sha256(handle), sha256(browser), session ?? null]);
  }

  /** Returns a request that was last opened in this session; undefined in the same cases as for `decide`. */
  async find(handle: string, session: string): Promise<PendingRequest | undefined> {
    if (!HANDLE.test(handle)) return undefined;
    return this.#one(FIND, [sha256(handle), session]);
  }

  /**
   * Takes a request for a decision. Only the session in which it was last opened can take it, and only once.
   * @returns undefined if the request is unknown, expired, decided, or was last opened in another session
   */
  async decide(handle: string, session: string): Promise<PendingRequest | undefined> {
    if (!HANDLE.test(handle)) return undefined;
    return this.#one(DECIDE, [sha256(handle), session]);
  }

  /** Notes the result of a decision. */
  async conclude(handle: string, outcome: Outcome): Promise<void> {
    await this.client.query(
      'UPDATE operations.authorization_request SET outcome = $2 WHERE handle_sha256 = $1',
      [sha256(handle), outcome],
    );
  }

  /**
   * Returns a request that was decided in this session, with its outcome. The outcome is null while the decision is being
   * carried out, and also if that was interrupted. Returns undefined if the request is still open, unknown or expired, or was
   * last opened in another session.
   */
  async answered(
    handle: string,
    session: string,
  ): Promise<(Pick<PendingRequest, 'parameters'> & { readonly outcome: Outcome | null }) | undefined> {
    if (!HANDLE.test(handle)) return undefined;
    const { rows } = await this.client.query<{ parameters: string; outcome: Outcome | null }>(ANSWERED, [
      sha256(handle),
      session,
    ]);
    const [row] = rows;
    return row && { parameters: pairs.parse(JSON.parse(row.parameters)), outcome: row.outcome };
  }

  /** Reopens a request, because its decision could not be carried out. */
  async reopen(handle: string): Promise<void> {
    await this.client.query(
      'UPDATE operations.authorization_request SET decided_at = NULL WHERE handle_sha256 = $1',
      [sha256(handle)],
    );
  }

  async #one(text: string, values: unknown[]): Promise<PendingRequest | undefined> {
    const { rows } = await this.client.query<{ parameters: string; created_at: number }>(text, values);
    const [row] = rows;
    if (row === undefined) return undefined;
    return { parameters: pairs.parse(JSON.parse(row.parameters)), createdAt: row.created_at };
  }
}

function sha256(text: string): Buffer {
  return createHash('sha256').update(text).digest();
}
