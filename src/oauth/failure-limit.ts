/**
 * Limits failed client authentication to 20 a minute per client and per address, on all instances together
 * (docs/spec/decisions.md, section 3; RFC 6749, section 2.3.1: protection against guessing).
 */
import type { Pool } from 'pg';
import { OAuthError } from './error.ts';

/** A migration: the table, in schema `operations`. */
export const CLIENT_FAILURES_SQL = `
CREATE TABLE operations.client_failure (
  key text PRIMARY KEY,                -- 'client <id>' or 'address <address>'
  failed_at timestamptz[] NOT NULL,    -- the last 21 failures at most, oldest first
  last_at timestamptz NOT NULL         -- rows are deleted a minute after it
);
CREATE INDEX client_failure_old ON operations.client_failure (last_at);
`;

/** Failures in any 60 seconds; further requests are refused unread. */
export const MAX_FAILURES = 20;

// The last but 19 of the failures: if it is less than a minute ago, there were 20 since.
const WAIT = `
  select max(60 - extract(epoch from clock_timestamp() - failed_at[cardinality(failed_at) - ${MAX_FAILURES - 1}]))
    as seconds
  from operations.client_failure
  where key = any($1::text[]) and cardinality(failed_at) >= ${MAX_FAILURES}`;

const NOTE = `
  with old as (
    delete from operations.client_failure where key in (
      select key from operations.client_failure
      where last_at < now() - interval '1 minute' and key <> all($1::text[])
      order by last_at limit 100 for update skip locked))
  insert into operations.client_failure as f (key, failed_at, last_at)
  select key, array[clock_timestamp()], clock_timestamp() from unnest($1::text[]) key order by key
  on conflict (key) do update set
    failed_at = (array_append(f.failed_at, clock_timestamp()))[greatest(1, cardinality(f.failed_at) - ${MAX_FAILURES - 1}):],
    last_at = clock_timestamp()
  returning cardinality(failed_at) > ${MAX_FAILURES}
    and failed_at[1] > clock_timestamp() - interval '1 minute' as beyond`;

/** Counts failures of keys such as `client client_test_…` and `address 192.0.2.1`. */
export class FailureLimit {
  constructor(private readonly pool: Pool) {}

  /** @throws OAuthError with status 429 if one of the keys had 20 failures within a minute */
  async check(keys: readonly string[]): Promise<void> {
    const { rows } = await this.pool.query<{ seconds: string | null }>({
      name: 'client-failures',
      text: WAIT,
      values: [keys],
    });
    const seconds = Number(rows[0]?.seconds ?? 0);
    if (seconds > 0) throw throttled(Math.max(1, Math.ceil(seconds)));
  }

  /**
   * Counts a failure.
   * @throws OAuthError with status 429 if others that ran at the same time have used up the limit
   */
  async note(keys: readonly string[]): Promise<void> {
    const { rows } = await this.pool.query<{ beyond: boolean }>({
      name: 'note-client-failure',
      text: NOTE,
      values: [keys],
    });
    if (rows.some(({ beyond }) => beyond)) throw throttled(60);
  }
}

function throttled(seconds: number): OAuthError {
  return new OAuthError(
    'temporarily_unavailable',
    `client authentication failed ${MAX_FAILURES} times within a minute; retry in ${seconds} s`,
    { status: 429, headers: { 'Retry-After': String(seconds) } },
  );
}
