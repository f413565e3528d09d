/** The parts of a service instance that matter for projections: a store, and what follows and runs the projections. */
import { PROJECTIONS } from '#projections/all.ts';
import { Progress } from '#projections/progress.ts';
import type { Projection } from '#projections/projection.ts';
import { Projector, type ProjectorDeps, type ProjectorTimes } from '#projections/projector.ts';
import { prepareReadModels } from '#projections/tables.ts';
import { openPool } from '#src/database/pool.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import type { Position } from '#src/events/store.ts';

/** An instance that runs or follows every projection until it is stopped. */
export interface Instance {
  readonly store: PostgresEventStore;
  readonly progress: Progress;
  readonly projector: Projector;
  /** Waits until all projections have passed a position; fails after 20 s. */
  shown(position: Position): Promise<void>;
  /** Returns a projection's state on this instance. */
  state(name: string): string | undefined;
  stop(): Promise<void>;
}

/** Starts an instance on a database. */
export async function startInstance(
  url: string,
  {
    projections = PROJECTIONS,
    log,
    newer,
    ...times
  }: ProjectorTimes & Pick<ProjectorDeps, 'log' | 'newer'> & { projections?: readonly Projection[] } = {},
): Promise<Instance> {
  const store = await PostgresEventStore.open({ url });
  const pool = openPool(url, { max: 1 });
  await prepareReadModels(pool, projections);
  await pool.end();
  const names = projections.map(({ name }) => name);
  const progress = new Progress({ store, databaseUrl: url, projections });
  await progress.start();
  const projector = new Projector(
    {
      store,
      databaseUrl: url,
      projections,
      progress,
      ...(log === undefined ? {} : { log }),
      ...(newer === undefined ? {} : { newer }),
    },
    { electionMs: 50, ...times },
  );
  projector.start();
  return {
    store,
    progress,
    projector,
    async shown(position) {
      if (!(await progress.waitFor(position, names, 20_000))) {
        throw new Error(`${position} is not shown: ${JSON.stringify(projector.status())}`);
      }
    },
    state: (name) => projector.status().find((status) => status.name === name)?.state,
    async stop() {
      await projector.stop();
      progress.stop();
      await store.close();
    },
  };
}
