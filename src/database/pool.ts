/** Connections to PostgreSQL. */
import pg from 'pg';

// int8 as a number: counts, microseconds and sizes here stay below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

/** How a pool is opened. */
export interface PoolOptions {
  /** Most connections at a time. */
  readonly max?: number;
  /** Shown in pg_stat_activity. */
  readonly name?: string;
  /** Extra settings of each session, such as `-c synchronous_commit=off`. */
  readonly options?: string;
  /** How long a connection is waited for, also a free one of the pool, in ms; 0: without limit. Default 5,000. */
  readonly connectMs?: number;
  /** How long a statement's answer is waited for, in ms; 0: without limit. Default 10,000. */
  readonly answerMs?: number;
}

/** How much longer the server works on a statement than its answer is waited for, in ms. */
const GRACE_MS = 1_000;

/**
 * A pool over a `postgres://` URL (unix sockets by `?host=/dir`). An idle connection that breaks is only dropped.
 * Nobody waits without limit for a server that is there and does not answer: statements fail with `Query read timeout`
 * and lose their connection, and so does who waits for a connection. The server gives up a statement a second after
 * that, so that none that nobody waits for goes on.
 */
export function openPool(url: string, options: PoolOptions = {}): pg.Pool {
  const answerMs = options.answerMs ?? 10_000;
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? 8,
    application_name: options.name ?? 'annal',
    connectionTimeoutMillis: options.connectMs ?? 5_000,
    query_timeout: answerMs,
    ...(answerMs === 0 ? {} : { statement_timeout: answerMs + GRACE_MS }),
    ...(options.options === undefined ? {} : { options: options.options }),
  });
  pool.on('error', () => undefined);
  return pool;
}
