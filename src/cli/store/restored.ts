/** `annal rebuild --restored`: for use after restoring a log that is older than the read models. */
import type { Pool } from 'pg';
import { PROJECTIONS } from '#projections/all.ts';
import { countListeners } from '#projections/checkpoint.ts';
import { openPool } from '#src/database/pool.ts';
import { migrate } from '#src/migrations/migrate.ts';
import { forgetMark } from '#src/operations/log-mark.ts';
import { type Forgotten, forgetLostEvents } from '#src/operations/restored-log.ts';
import { withEventStore } from '../database.ts';
import { Failure } from '../failure.ts';
import { withStoppedService } from '../stopped.ts';
import { type RebuildOptions, rebuildNamed } from './rebuild.ts';

/**
 * Removes data that refers to lost events, and rebuilds every read model from the current log. The service must be stopped.
 * @returns the exit code: 1 if it was interrupted; running the same command again starts over.
 * @throws Failure if an instance is running, or if the database or the event store can't be reached.
 */
export async function rebuildRestored(options: RebuildOptions): Promise<number> {
  return withStoppedService(options, async (databaseUrl) => {
    await migrate(databaseUrl);
    const forgotten = await withEventStore(databaseUrl, (store) =>
      withPool(databaseUrl, async (pool) => {
        await refuseInstances(pool);
        return forgetLostEvents(pool, store);
      }),
    );
    if (options.json !== true) process.stdout.write(`${describe(forgotten)}\n`);
    const names = PROJECTIONS.map(({ name }) => name);
    const code = await rebuildNamed(databaseUrl, names, { ...options, restored: true });
    // Until the mark is removed, the service must not start, regardless of where the log ends.
    if (code === 0) await withPool(databaseUrl, forgetMark);
    return code;
  });
}

async function withPool<T>(databaseUrl: string, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = openPool(databaseUrl, { max: 4, name: 'annal restored log', answerMs: 0 });
  try {
    return await work(pool);
  } finally {
    await pool.end();
  }
}

async function refuseInstances(pool: Pool): Promise<void> {
  const client = await pool.connect();
  try {
    const running = await countListeners(client);
    if (running > 0) throw new Failure('the service is running on this database; stop every instance first');
  } finally {
    client.release();
  }
}

function describe({ keys, keptKeys }: Forgotten): string {
  return (
    'Removed the snapshots and the positions of the processes. ' +
    `Idempotency keys: ${keys} removed because the log lacks their writes, ${keptKeys} kept.`
  );
}
