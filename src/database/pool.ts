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
}

/** A pool over a `postgres://` URL (unix sockets by `?host=/dir`). An idle connection that breaks is only dropped. */
export function openPool(url: string, options: PoolOptions = {}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    max: options.max ?? 8,
    application_name: options.name ?? 'annal',
    ...(options.options === undefined ? {} : { options: options.options }),
  });
  pool.on('error', () => undefined);
  return pool;
}
