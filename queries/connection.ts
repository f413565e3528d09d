/** Questions of several statements, over a connection that is theirs for so long. */
import type { Pool, PoolClient } from 'pg';
import { Refusal } from '#src/shared/refusal.ts';

/**
 * Works over a connection of a pool. It goes back unless a statement failed: one that was not waited for may still run
 * over it.
 * @throws what `work` throws; the pool's error when no connection comes.
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
