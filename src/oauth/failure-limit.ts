/**
 * Limits failed client authentication within any minute, across all instances (docs/spec/decisions.md, section 3; RFC 6749,
 * section 2.3.1: protection against guessing): 20 failures per client and address, and 100 per address, regardless of which
 * clients it names. No limit applies per client alone, because anyone could use it up to lock the client out.
 */
import { createHash } from 'node:crypto';
import type { Pool } from 'pg';
import { OAuthError } from './error.ts';

/** Migration that creates the table, in schema `operations`. */
export const CLIENT_FAILURES_SQL = `
CREATE TABLE operations.client_failure (
  key text PRIMARY KEY,                -- 'client <id>' or 'address <address>'
  failed_at timestamptz[] NOT NULL,    -- the last 21 failures at most, oldest first
  last_at timestamptz NOT NULL         -- rows are deleted a minute after it
);
CREATE INDEX client_failure_old ON operations.client_failure (last_at);
`;

/**
 * The maximum number of failures for a client from an address in any 60 seconds; further requests are refused without being
 * read.
 */
export const MAX_OF_CLIENT = 20;
/** The maximum number of failures from an address, for all clients that it names. */
export const MAX_OF_ADDRESS = 100;

/** A subject whose failures are counted. */
interface Counted {
  readonly key: string;
  readonly most: number;
}

/**
 * Returns the subjects that a failure counts against.
 * @param clientId the id that the request claims, whether known or not; undefined if the request names no client
 */
export function countedFor(address: string, clientId: string | undefined): readonly Counted[] {
  const all = { key: `address ${address}`, most: MAX_OF_ADDRESS };
  if (clientId === undefined) return [all];
  const hash = createHash('sha256').update(clientId).digest('base64url');
  return [{ key: `client ${hash} from ${address}`, most: MAX_OF_CLIENT }, all];
}

// Looks at the failure that is `most` from the end. If that failure happened less than a minute ago, the limit has been
// reached.
const WAIT = `
  select max(60 - extract(epoch from clock_timestamp() - failed_at[cardinality(failed_at) - k.most + 1])) as seconds
  from unnest($1::text[], $2::int4[]) as k(key, most)
  join operations.client_failure f on f.key = k.key and cardinality(f.failed_at) >= k.most`;

const NOTE = `
  with old as (
    delete from operations.client_failure where key in (
      select key from operations.client_failure
      where last_at < now() - interval '1 minute' and key <> all($1::text[])
      order by last_at limit 100 for update skip locked)),
  counted as (select * from unnest($1::text[], $2::int4[]) as k(key, most)),
  noted as (
    insert into operations.client_failure as f (key, failed_at, last_at)
    select key, array[clock_timestamp()], clock_timestamp() from counted order by key
    on conflict (key) do update set
      failed_at = (array_append(f.failed_at, clock_timestamp()))[greatest(1, cardinality(f.failed_at) + 1
        - (select most from counted where counted.key = f.key)):],
      last_at = clock_timestamp()
    returning key, failed_at)
  select cardinality(failed_at) > most and failed_at[1] > clock_timestamp() - interval '1 minute' as beyond
  from noted join counted using (key)`;

/** Counts failures. */
export class FailureLimit {
  constructor(private readonly pool: Pool) {}

  /** @throws OAuthError with status 429 if one of the limits was used up within the last minute */
  async check(counted: readonly Counted[]): Promise<void> {
    const { rows } = await this.pool.query<{ seconds: string | null }>({
      name: 'client-failures',
      text: WAIT,
      values: bindCounted(counted),
    });
    const seconds = Number(rows[0]?.seconds ?? 0);
    if (seconds > 0) throw throttled(Math.max(1, Math.ceil(seconds)));
  }

  /**
   * Counts a failure.
   * @throws OAuthError with status 429 if parallel requests have used up the limit
   */
  async note(counted: readonly Counted[]): Promise<void> {
    const { rows } = await this.pool.query<{ beyond: boolean }>({
      name: 'note-client-failure',
      text: NOTE,
      values: bindCounted(counted),
    });
    if (rows.some(({ beyond }) => beyond)) throw throttled(60);
  }
}

function bindCounted(counted: readonly Counted[]): [string[], number[]] {
  return [counted.map(({ key }) => key), counted.map(({ most }) => most)];
}

function throttled(seconds: number): OAuthError {
  return new OAuthError(
    'temporarily_unavailable',
    `client authentication failed too often from this address; retry in ${seconds} s`,
    { status: 429, headers: { 'Retry-After': String(seconds) } },
  );
}
