/** What must hold before an instance takes requests. */
import type { Pool } from 'pg';
import { readCheckpoints, unfilled } from '#projections/checkpoint.ts';
import type { Progress } from '#projections/progress.ts';
import type { EventStore } from '../events/store.ts';
import type { LogWatch } from '../operations/log-watch.ts';
import { tablesMissing } from '../shared/refusal.ts';

/** What is looked at. */
export interface ReadinessDeps {
  readonly store: Pick<EventStore, 'ping'>;
  readonly pool: Pool;
  readonly watch: Pick<LogWatch, 'check'>;
  readonly progress: Pick<Progress, 'positions' | 'stale'>;
  /** Names of the read models. */
  readonly models: readonly string[];
}

/** The conditions of `/health/ready`: the log, also that it has not become shorter; the database; the read models. */
export function readinessChecks({
  store,
  pool,
  watch,
  progress,
  models,
}: ReadinessDeps): Readonly<Record<string, () => Promise<void>>> {
  return {
    event_store: async () => {
      await store.ping();
      await watch.check(progress.positions());
    },
    database: async () => void (await pool.query('SELECT 1')),
    projections: async () => {
      // What the last look found may have been dropped since.
      const missing = unfilled(models, await readCheckpoints(pool, models));
      if (missing.length > 0) throw tablesMissing(missing);
      const stale = progress.stale();
      if (stale.length > 0) throw new Error(`${stale.join(', ')} lag`);
    },
  };
}
