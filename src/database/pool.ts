/** Opens connections to PostgreSQL. */
import pg from 'pg';
import { PrimaryClient } from './primary-client.ts';

// int8 becomes a number, because counts, microseconds and sizes here stay below 2^53.
pg.types.setTypeParser(pg.types.builtins.INT8, Number);

export interface PoolOptions {
  /** The maximum number of simultaneous connections. */
  readonly max?: number;
  /** Shown in pg_stat_activity. */
  readonly name?: string;
  /** Additional settings for each session, for example `-c synchronous_commit=off`. */
  readonly options?: string;
  /** Timeout in ms, both for connecting and for waiting for a free connection in the pool; 0 means none. Default: 5,000. */
  readonly connectMs?: number;
  /** Timeout for a statement's response, in ms; 0 means none. Default: 10,000. */
  readonly answerMs?: number;
  /**
   * How long the server may work on a statement, in ms. Default: one second longer than `answerMs`. If it is shorter than
   * `answerMs`, errors distinguish a statement that takes too long (57014) from a server that doesn't respond.
   */
  readonly statementMs?: number;
}

/** How much longer the server may work on a statement than the client waits, in ms. */
const GRACE_MS = 1_000;

/**
 * Opens a pool for a `postgres://` URL (Unix sockets with `?host=/dir`). It refuses connections to a standby. An idle
 * connection that breaks is dropped. If the server doesn't respond, statements fail with `Query read timeout` and their
 * connection is closed; waiting for a connection fails too. The server cancels the statement a second later, so that no
 * statement continues unnoticed.
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
