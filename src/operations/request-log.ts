/**
 * A project's request log: caller, request, time and outcome. It never contains a query string, body, header or secret. Rows
 * are written in batches, after the request; a purge deletes rows whose path names its record.
 */

import pg, { type Pool } from 'pg';
import type { LoggedRequest } from '#src/shared/load/traffic.ts';
import { nowMicros } from '../shared/time/time.ts';

/** The table, in schema `operations`. */
export const REQUEST_LOG_SQL = `
CREATE TABLE operations.request_log (
  request_id text PRIMARY KEY,
  at int8 NOT NULL,                    -- when it was answered, microseconds since 1970
  project text NOT NULL,
  environment text,                    -- null: a request about the project as a whole, by one of its members
  key_id text,
  identity text,                       -- issuer and subject of an ID token
  method text NOT NULL,
  path text NOT NULL,                  -- without query string
  named uuid,                          -- the patient that the path may name
  status int2 NOT NULL,
  ms real NOT NULL
);
CREATE INDEX request_log_of_project ON operations.request_log (project, at, request_id);
CREATE INDEX request_log_named ON operations.request_log (named) WHERE named IS NOT NULL;
CREATE INDEX request_log_age ON operations.request_log USING brin (at);
`;

/**
 * Migration: patients whose rows were deleted, so that an instance that still has some of these rows in memory doesn't write
 * them.
 */
export const REQUEST_LOG_FORGOTTEN_SQL = `
CREATE TABLE operations.request_log_forgotten (
  named uuid PRIMARY KEY,
  at int8 NOT NULL                     -- what was answered until then is never written, microseconds since 1970
);`;

/**
 * Migration: one index for reading a project's log and detecting duplicates, and one for finding a request by its id. Ids
 * contain their time, so both indexes grow only at their ends.
 */
export const REQUEST_LOG_KEYS_SQL = `
ALTER TABLE operations.request_log DROP CONSTRAINT request_log_pkey;
DROP INDEX operations.request_log_of_project;
ALTER TABLE operations.request_log ADD PRIMARY KEY (project, at, request_id);
CREATE INDEX request_log_of_id ON operations.request_log (request_id);`;

/** Migration that adds the application to which an access token belongs. */
export const REQUEST_LOG_APPLICATION_SQL =
  'ALTER TABLE operations.request_log ADD COLUMN application_id text;';

/** Migration that adds the reason why a request was refused, as JSON `{type, fields: [{field, code}]}`. */
export const REQUEST_LOG_ERROR_SQL = 'ALTER TABLE operations.request_log ADD COLUMN error text;';

/** Migration: an index to find requests that failed or were rate-limited, which are few. */
export const REQUEST_LOG_FAILED_SQL =
  'CREATE INDEX request_log_failed ON operations.request_log (at) WHERE status >= 500 OR status = 429;';

/**
 * The maximum number of rows in a statement, and the maximum number of waiting requests: if more are waiting, a request is
 * counted but not logged.
 */
const BATCH = 2_000;
const WAITING = 20_000;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

/** Matches paths of single resources other than Patients; these paths don't name a patient. */
const OF_A_RESOURCE = /^\/fhir\/R4\/(?!Patient\/)[A-Z][A-Za-z]+\//;

// Skips rows that name a patient who has been purged in the meantime. There are few callers, so each caller is sent once and
// requests refer to callers by number.
const INSERT = `
insert into operations.request_log
  (request_id, at, project, environment, key_id, identity, application_id, method, path, named, status, ms, error)
select r.request_id, r.at, ($8::text[])[r.caller], ($9::text[])[r.caller], ($10::text[])[r.caller],
       ($11::text[])[r.caller], ($13::text[])[r.caller], r.method, r.path, r.named, r.status, r.ms, r.error
  from unnest($1::text[], $2::int8[], $3::text[], $4::text[], $5::uuid[], $6::int2[], $7::real[], $12::int4[], $14::text[])
    as r(request_id, at, method, path, named, status, ms, caller, error)
 where not exists (select from operations.request_log_forgotten f where f.named = r.named and f.at >= r.at)`;

/** Used for a batch when the answer to the first try was lost. */
const INSERT_AGAIN = `${INSERT}\non conflict do nothing`;

const FORGET = `
insert into operations.request_log_forgotten as f (named, at) values ($1, $2)
on conflict (named) do update set at = greatest(f.at, excluded.at)`;

const EXPIRED = `
delete from operations.request_log
 where ctid = any(array(select ctid from operations.request_log where at < $1 limit 10000))`;

/** The log, in PostgreSQL. */
export class RequestLog {
  #waiting: LoggedRequest[] = [];
  #dropped = 0;

  /** @param pool connections whose commits don't wait for the disk */
  constructor(readonly pool: Pool) {}

  /** The number of requests that have not yet been written. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** The number of requests that will never be written, because too many were waiting. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Adds a request; `flush` writes it. */
  add(request: LoggedRequest): void {
    if (this.#waiting.length < WAITING) this.#waiting.push(request);
    else this.#dropped += 1;
  }

  /** Writes the waiting entries. Rejects while the database is unreachable; the entries then keep waiting. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      await this.#write(toColumns(batch));
      this.#waiting.splice(0, batch.length);
    }
  }

  async #write(values: unknown[]): Promise<void> {
    try {
      await this.pool.query({ name: 'request-log-insert', text: INSERT, values });
    } catch (error) {
      if (!isTwice(error)) throw error;
      await this.pool.query({ name: 'request-log-insert-again', text: INSERT_AGAIN, values });
    }
  }

  /**
   * Deletes old rows.
   * @param before in microseconds since 1970
   */
  async sweep(before: number): Promise<void> {
    for (let deleted = 1; deleted > 0; ) {
      deleted = (await this.pool.query(EXPIRED, [before])).rowCount ?? 0;
    }
    await this.pool.query('delete from operations.request_log_forgotten where at < $1', [before]);
  }

  /**
   * Deletes the rows whose path names a patient, and keeps waiting rows on all instances from being written. This is part of a
   * purge. A batch that is being written at the same time is covered by the purge's next call.
   */
  async forget(patientId: string): Promise<void> {
    await this.pool.query(FORGET, [patientId, nowMicros()]);
    await this.pool.query('delete from operations.request_log where named = $1', [patientId]);
  }
}

/** Returns whether an error reports a duplicate (SQLSTATE unique_violation). */
function isTwice(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '23505';
}

/** Returns columns as array literals, because the driver would otherwise inspect every value. */
function toColumns(batch: readonly LoggedRequest[]): unknown[] {
  const numbers = new Map<string, number>();
  const callers: LoggedRequest[] = [];
  const caller = batch.map((request) => {
    const { keyId, applicationId, project, environment, identity } = request;
    const key = `${keyId} ${applicationId} ${project} ${environment} ${identity}`;
    const known = numbers.get(key);
    if (known !== undefined) return known;
    numbers.set(key, callers.push(request));
    return callers.length;
  });
  return [
    writeArray(batch.map(({ requestId }) => quoted(requestId))),
    writeArray(batch.map(({ at }) => at)),
    writeArray(batch.map(({ method }) => quoted(method))),
    writeArray(batch.map(({ path }) => quoted(path))),
    writeArray(batch.map(({ path, named }) => named ?? namedIn(path) ?? 'NULL')),
    writeArray(batch.map(({ status }) => status)),
    writeArray(batch.map(({ ms }) => ms)),
    callers.map(({ project }) => project),
    callers.map(({ environment }) => environment),
    callers.map(({ keyId }) => keyId),
    callers.map(({ identity }) => identity),
    writeArray(caller),
    callers.map(({ applicationId }) => applicationId ?? null),
    writeArray(batch.map(({ error }) => (error === undefined ? 'NULL' : quoted(error)))),
  ];
}

/** Returns the patient that a path may name. */
function namedIn(path: string): string | undefined {
  return OF_A_RESOURCE.test(path) ? undefined : UUID.exec(path)?.[0];
}

function writeArray(values: readonly (string | number)[]): string {
  return `{${values.join(',')}}`;
}

function quoted(text: string): string {
  return `"${text.replace(/["\\]/g, '\\$&')}"`;
}
