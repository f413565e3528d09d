/** Runs several statements on one connection. */
import type { Pool, PoolClient } from 'pg';
import { Refusal } from '#src/shared/refusal.ts';

/**
 * Runs work on one of a pool's connections. If a statement failed, the connection is dropped, because another statement may
 * still be running on it.
 * @throws errors from `work`; the pool's error if no connection is free
 */
export async function onConnection<T>(pool: Pool, work: (database: PoolClient) => Promise<T>): Promise<T> {
  const database = await pool.connect();
  let lost = false;
  try {
    return await work(database);
  } catch (error) {
    lost = !(error instanceof Refusal);
    throw error;
  } finally {
    database.release(lost);
  }
}
