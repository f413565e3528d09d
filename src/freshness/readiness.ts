/** Checks whether an instance is ready to serve requests. */
import type { Pool } from 'pg';
import { readCheckpoints, unfilled } from '#projections/checkpoint.ts';
import type { Progress } from '#projections/progress.ts';
import type { NewerEvents } from '../events/newer.ts';
import type { EventStore } from '../events/store.ts';
import type { LogWatch } from '../operations/log-watch.ts';
import type { FullDisks } from '../shared/load/full-disks.ts';
import { tablesMissing, unavailable } from '../shared/refusal.ts';

/** A projector that sends nothing for this long, in ms, is treated as missing. */
const SILENCE_MS = 4_000;

/**
 * Returns the checks for `/health/ready`: the log, including that it hasn't become shorter; the database; the read models. If
 * an instance finds events from a newer version, it reports them, but it stays ready as long as newer instances keep the read
 * models up to date. Otherwise a single new instance would take all others out of service.
 */
export function readinessChecks({
  store,
  pool,
  watch,
  progress,
  newer,
  disks,
  models,
  link,
}: {
  readonly store: Pick<EventStore, 'ping'>;
  readonly pool: Pool;
  readonly watch: Pick<LogWatch, 'check'>;
  readonly progress: Pick<Progress, 'positions' | 'stale'>;
  /** Events from a newer version at which this instance's projections and processes have stopped. */
  readonly newer: Pick<NewerEvents, 'notice'>;
  /** The disks that were recently full. */
  readonly disks: Pick<FullDisks, 'notice'>;
  /** Names of the read models. */
  readonly models: readonly string[];
  /** The other processes on this machine, if one of them keeps the read models up to date. */
  readonly link?: { readonly silence: (models: readonly string[]) => number } | undefined;
}): Readonly<Record<string, () => Promise<string | undefined>>> {
  return {
    event_store: async () => {
      await store.ping();
      await watch.check(progress.positions());
      return undefined;
    },
    database: async () => {
      await pool.query('SELECT 1');
      // Reads still work when a disk is full, so the instance stays ready.
      return disks.notice;
    },
    projections: async () => {
      // A table may have been dropped since the last check.
      const missing = unfilled(models, await readCheckpoints(pool, models));
      if (missing.length > 0) throw tablesMissing(missing);
      if ((link?.silence(models) ?? 0) > SILENCE_MS)
        throw new Error('a process of this machine that keeps them up to date is missing');
      const stale = progress.stale();
      if (stale.length === 0) return newer.notice;
      const lag = `${stale.join(', ')} lag`;
      throw newer.notice === undefined ? new Error(lag) : unavailable(`${lag}: ${newer.notice}`);
    },
  };
}
