/**
 * The log of requests that a project sees: who asked what, when, and how it ended. Never a query string, a body, a header
 * or a secret. Rows are written in batches off the requests' path; a purge takes the rows whose path names its record.
 */
import type { Pool } from 'pg';

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
  named uuid,                          -- the first resource id in the path
  status int2 NOT NULL,
  ms real NOT NULL
);
CREATE INDEX request_log_of_project ON operations.request_log (project, at, request_id);
CREATE INDEX request_log_named ON operations.request_log (named) WHERE named IS NOT NULL;
CREATE INDEX request_log_age ON operations.request_log USING brin (at);
`;

/** A request that was answered. */
export interface LoggedRequest {
  readonly requestId: string;
  /** Microseconds since 1970. */
  readonly at: number;
  readonly project: string;
  readonly environment: string | null;
  readonly keyId: string | null;
  readonly identity: string | null;
  readonly method: string;
  /** Without query string, and without what is neither an id nor part of the URL's pattern. */
  readonly path: string;
  readonly status: number;
  readonly ms: number;
}

/** What is asked of a project's log. */
export interface LogQuestion {
  readonly project: string;
  readonly environment?: string | undefined;
  readonly requestId?: string | undefined;
  readonly keyId?: string | undefined;
  /** `404`, or `4` for all from 400 to 499. */
  readonly status?: number | undefined;
  /** What the path begins with. */
  readonly path?: string | undefined;
  /** Microseconds, inclusive. */
  readonly from?: number | undefined;
  /** Microseconds, exclusive. */
  readonly to?: number | undefined;
  readonly limit: number;
  /** The last entry of the page before. */
  readonly after?: { readonly at: number; readonly requestId: string } | undefined;
}

/** Most rows of a statement, and of requests that wait: beyond them a request is counted, not logged. */
const BATCH = 2_000;
const WAITING = 20_000;

const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/;

// A batch whose answer was lost is sent again.
const INSERT = `
insert into operations.request_log
  (request_id, at, project, environment, key_id, identity, method, path, named, status, ms)
select request_id, at, project, environment, key_id, identity, method, path, named, status, ms
  from unnest($1::text[], $2::int8[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::text[],
              $9::uuid[], $10::int2[], $11::real[])
    as r(request_id, at, project, environment, key_id, identity, method, path, named, status, ms)
on conflict do nothing`;

// Index: request_log_of_project.
const ASKED = `
  from operations.request_log l
 where l.project = $1
   and ($2::text is null or l.environment = $2)
   and ($3::text is null or l.request_id = $3)
   and ($4::text is null or l.key_id = $4)
   and ($5::int is null or l.status = $5 or l.status / 100 = $5)
   and ($6::text is null or starts_with(l.path, $6))
   and l.at >= $7 and l.at < $8`;

const PAGE = `
select l.request_id as "requestId", l.at, l.project, l.environment, l.key_id as "keyId", l.identity, l.method, l.path,
       l.status, l.ms
${ASKED}
   and ($9::int8 is null or (l.at, l.request_id) < ($9, $10))
 order by l.at desc, l.request_id desc
 limit $11`;

const EXPIRED = `
delete from operations.request_log
 where request_id in (select request_id from operations.request_log where at < $1 limit 10000)`;

/** The log, in PostgreSQL. */
export class RequestLog {
  #waiting: LoggedRequest[] = [];
  #dropped = 0;

  /** @param pool whose commits need not wait for the disk. */
  constructor(readonly pool: Pool) {}

  /** Requests that are not written yet. */
  get waiting(): number {
    return this.#waiting.length;
  }

  /** Requests that never will be: too many waited. */
  get dropped(): number {
    return this.#dropped;
  }

  /** Notes a request; `flush` writes it. */
  add(request: LoggedRequest): void {
    if (this.#waiting.length < WAITING) this.#waiting.push(request);
    else this.#dropped += 1;
  }

  /** Writes what waits. Rejects while the database is away; then it waits on. */
  async flush(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.slice(0, BATCH);
      await this.pool.query({ name: 'request-log-insert', text: INSERT, values: columnsOf(batch) });
      this.#waiting.splice(0, batch.length);
    }
  }

  /** A page of a project's log, newest first, and how many entries there are in all. */
  async page(question: LogQuestion): Promise<{ readonly entries: LoggedRequest[]; readonly total: number }> {
    const { project, environment, requestId, keyId, status, path, from, to, limit, after } = question;
    const asked = [
      project,
      environment ?? null,
      requestId ?? null,
      keyId ?? null,
      status ?? null,
      path ?? null,
      from ?? 0,
      to ?? Number.MAX_SAFE_INTEGER,
    ];
    const [{ rows: entries }, { rows: counted }] = await Promise.all([
      this.pool.query<LoggedRequest>(PAGE, [...asked, after?.at ?? null, after?.requestId ?? null, limit]),
      this.pool.query<{ total: number }>(`select count(*) as total ${ASKED}`, asked),
    ]);
    return { entries, total: counted[0]?.total ?? 0 };
  }

  /** Deletes what is older. @param before microseconds since 1970 */
  async sweep(before: number): Promise<void> {
    for (let deleted = 1; deleted > 0; ) {
      deleted = (await this.pool.query(EXPIRED, [before])).rowCount ?? 0;
    }
  }

  /** Deletes the rows whose path names a patient: part of a purge. What waits in memory is written first. */
  async forget(patientId: string): Promise<void> {
    await this.flush();
    await this.pool.query('delete from operations.request_log where named = $1', [patientId]);
  }
}

function columnsOf(batch: readonly LoggedRequest[]): unknown[] {
  return [
    batch.map(({ requestId }) => requestId),
    batch.map(({ at }) => at),
    batch.map(({ project }) => project),
    batch.map(({ environment }) => environment),
    batch.map(({ keyId }) => keyId),
    batch.map(({ identity }) => identity),
    batch.map(({ method }) => method),
    batch.map(({ path }) => path),
    batch.map(({ path }) => UUID.exec(path)?.[0] ?? null),
    batch.map(({ status }) => status),
    batch.map(({ ms }) => ms),
  ];
}
