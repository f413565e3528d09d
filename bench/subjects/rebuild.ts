/** Creates a log with generated events and its read models, and rebuilds the read models, in a separate process. */
import { PROJECTIONS } from '#projections/all.ts';
import type { Load } from '#projections/pace.ts';
import { Progress } from '#projections/progress.ts';
import { Projector } from '#projections/projector.ts';
import { rebuild } from '#projections/rebuild/rebuild.ts';
import { prepareReadModels } from '#projections/tables.ts';
import { openPool } from '#src/database/pool.ts';
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import { recordStream } from '#src/events/streams.ts';
import { newUuid } from '#src/shared/ids.ts';
import { creations } from '../events.ts';
import { answer } from '../worker.ts';

const NAMES = ['resources', 'history'] as const;
/** Number of events in each append and in each record. */
const APPEND = 100;
const CATCH_UP_MS = 3_600_000;

/** Fills a log with the given number of events and lets the projections process them. */
async function fill(databaseUrl: string, events: number): Promise<void> {
  const store = await PostgresEventStore.open({ url: databaseUrl });
  const pool = openPool(databaseUrl, { max: 1 });
  await prepareReadModels(pool, PROJECTIONS);
  await pool.end();
  for (let n = 0; n < events; n += APPEND) {
    const patient = newUuid();
    await store.append(recordStream(patient), 'none', creations(patient, Math.min(APPEND, events - n)));
  }
  const names = PROJECTIONS.map(({ name }) => name);
  const progress = new Progress({ store, databaseUrl, projections: PROJECTIONS });
  const projector = new Projector({ store, databaseUrl, projections: PROJECTIONS, progress });
  projector.start();
  await progress.start();
  if (!(await progress.waitFor(await store.head(), names, CATCH_UP_MS)))
    throw new Error('the projections lag');
  await projector.stop();
  progress.stop();
  await store.close();
}

/**
 * Rebuilds both read models.
 * @returns seconds by phase: loading, indexing, comparing, swapping.
 */
async function timeRebuild(databaseUrl: string, load: Load = 'full'): Promise<Record<string, number>> {
  const store = await PostgresEventStore.open({ url: databaseUrl });
  const phases: Record<string, number> = {};
  const since = new Map<string, { phase: string; at: number }>();
  const began = performance.now();
  const reports = await rebuild({ store, databaseUrl }, NAMES, {
    fresh: true,
    load,
    onProgress: ({ name, phase }) => {
      const now = performance.now();
      const before = since.get(name);
      if (before?.phase === phase) return;
      if (before !== undefined) {
        const key = `${name} ${before.phase}`;
        phases[key] = (phases[key] ?? 0) + (now - before.at) / 1000;
      }
      since.set(name, { phase, at: now });
    },
  });
  const whole = (performance.now() - began) / 1000;
  await store.close();
  const failed = reports.find(({ outcome }) => outcome !== 'swapped');
  if (failed !== undefined) throw new Error(`the rebuild of ${failed.name}: ${failed.outcome}`);
  return { ...phases, whole };
}

type Call = { readonly databaseUrl: string; readonly fill?: number; readonly load?: Load };

answer(async ({ databaseUrl, fill: events, load }: Call): Promise<Record<string, number>> => {
  if (events === undefined) return timeRebuild(databaseUrl, load);
  await fill(databaseUrl, events);
  return {};
});
