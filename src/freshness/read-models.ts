/** Brings the read models up to date at startup, and removes what killed rebuilds have left behind. */
import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import { sweepAbandoned } from '#projections/abandoned.ts';
import { PROJECTIONS } from '#projections/all.ts';
import { notedPositions } from '#projections/checkpoint.ts';
import { type RebuildDeps, RebuildRunning, rebuild } from '#projections/rebuild/rebuild.ts';
import { prepareReadModels } from '#projections/tables.ts';
import type { EventStore } from '../events/store.ts';
import type { LogWatch } from '../operations/log-watch.ts';
import { assertNotBehind } from '../operations/restored-log.ts';
import { readProcessPositions } from '../processes/positions.ts';
import { describeRebuild, RebuildCount } from './rebuild-count.ts';

/** How often the progress of a rebuild is logged, in ms. */
const TOLD_MS = 10_000;

/**
 * Creates missing read models, and rebuilds read models that a different version of the software wrote; only one instance does
 * so at a time.
 * @throws LogBehind before anything is changed.
 */
export async function bringReadModelsUpToDate(
  pool: Pool,
  deps: RebuildDeps & {
    readonly store: EventStore;
    readonly log: Logger;
    readonly watch: Pick<LogWatch, 'begin'>;
    /** Answers requests until the returned function is called; `say` returns a description of what the startup is doing. */
    readonly answerMeanwhile: (say: () => string) => Promise<() => Promise<void>>;
  },
): Promise<void> {
  const names = PROJECTIONS.map(({ name }) => name);
  const noted = [...(await notedPositions(pool, names)), ...(await readProcessPositions(pool))];
  await assertNotBehind(deps.store, new Map(noted));
  await deps.watch.begin();
  for (;;) {
    const outdated = await prepareReadModels(pool, PROJECTIONS);
    if (outdated.length === 0) return;
    deps.log.warn(
      { projections: outdated },
      'rebuilding read models whose version changed; the service starts when this is done',
    );
    const count = new RebuildCount(outdated);
    const close = await deps.answerMeanwhile(() => describeRebuild(count.state()));
    const telling = setInterval(() => deps.log.info(count.state(), 'rebuilding read models'), TOLD_MS);
    try {
      await rebuild(deps, outdated, { force: true, onProgress: (progress) => count.note(progress) });
    } catch (error) {
      if (!(error instanceof RebuildRunning)) throw error;
      await delay(1_000);
    } finally {
      clearInterval(telling);
      await close();
    }
  }
}

/** Removes records that have since been erased from the tables that killed rebuilds left behind; a failure is only logged. */
export function sweepShadows(pool: Pool, log: Logger): Promise<void> {
  return sweepAbandoned(pool, PROJECTIONS).catch((error: unknown) =>
    log.warn({ err: error }, 'the cleanup of interrupted rebuilds failed'),
  );
}
