/** Connections to PostgreSQL. */
import pg from 'pg';
import { PrimaryClient } from './primary-client.ts';

// int8 as a number: counts, microseconds and sizes here stay below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export interface PoolOptions {
  /** The maximum number of connections at a time. */
  readonly max?: number;
  /** Shown in pg_stat_activity. */
  readonly name?: string;
  /** Extra settings of each session, for example `-c synchronous_commit=off`. */
  readonly options?: string;
  /** Timeout for a connection, also for a free one of the pool, in ms; 0: none. Default 5,000. */
  readonly connectMs?: number;
  /** Timeout for a statement's answer, in ms; 0: none. Default 10,000. */
  readonly answerMs?: number;
  /**
   * How long the server works on a statement, in ms. By default a second longer than `answerMs`. If it is shorter, the
   * error tells a statement that takes too long (57014) from a server that doesn't answer.
   */
  readonly statementMs?: number;
}

/** How much longer the server may work on a statement than the client waits, in ms. */
const GRACE_MS = 1_000;

/**
 * Opens a pool for a `postgres://` URL (unix sockets by `?host=/dir`). It takes no connection to a standby. A broken idle connection is dropped. If the
 * server doesn't answer, statements fail with `Query read timeout` and lose their connection, and so do waits for a
 * connection. The server cancels the statement a second later, so that none continues unnoticed.
 */
export function openPool(url: string, options: PoolOptions = {}): pg.Pool {
  const answerMs = options.answerMs ?? 10_000;
  const pool = new pg.Pool({
    Client: PrimaryClient,
    connectionString: url,
    max: options.max ?? 8,
    application_name: options.name ?? 'annal',
    connectionTimeoutMillis: options.connectMs ?? 5_000,
    query_timeout: answerMs,
    ...(answerMs === 0 ? {} : { statement_timeout: options.statementMs ?? answerMs + GRACE_MS }),
    ...(options.options === undefined ? {} : { options: options.options }),
  });
  pool.on('error', () => undefined);
  return pool;
}
