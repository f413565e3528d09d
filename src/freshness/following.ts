/** Defines metrics for everything that follows the log: how far each projection and process lags behind. */
import type { Pool } from 'pg';
import type { Registry } from 'prom-client';
import { measureLags } from '#projections/lag.ts';
import type { Progress } from '#projections/progress.ts';
import type { Projector } from '#projections/projector.ts';
import { BEGINNING, type EventStore } from '../events/store.ts';
import { observeFollowers } from '../metrics/followers.ts';
import type { ParkedEvents } from '../processes/parked.ts';
import { readProcessPositions } from '../processes/positions.ts';
import type { Process } from '../processes/process.ts';

/** Registers the metrics; their values are read at each scrape. */
export function observeFollowing(
  registry: Registry,
  {
    pool,
    store,
    projector,
    progress,
    parked,
    processes,
  }: {
    readonly pool: Pool;
    readonly store: EventStore;
    readonly projector: Pick<Projector, 'status'>;
    readonly progress: Pick<Progress, 'positions' | 'stale'>;
    readonly parked: Pick<ParkedEvents, 'counts'>;
    readonly processes: readonly Pick<Process, 'definition'>[];
  },
): void {
  const names = processes.map(({ definition }) => definition.name);
  observeFollowers(registry, {
    states: () => projector.status(),
    stale: () => progress.stale(),
    processes: names,
    parked: () => parked.counts(),
    lags: async () => {
      const noted = await readProcessPositions(pool);
      const own = names.map((name) => [`process ${name}`, noted.get(name) ?? BEGINNING] as const);
      const models = [...progress.positions()].map(([name, at]) => [`projection ${name}`, at] as const);
      return measureLags(store, new Map([...own, ...models]));
    },
  });
}
