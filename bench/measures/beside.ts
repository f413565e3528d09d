/**
 * A rebuild while a service is being read. At full load, the rebuild is compared with COPY of the same rows during the same
 * reads. At low load, its effect on those reads is measured. A failed read fails the row.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench, MeasuredService } from '../bench.ts';
import type { Load } from '../load/plan.ts';
import type { Measure } from '../measure.ts';
import { createObservations, createPatients, resourcePath } from '../records.ts';
import { median } from '../statistics.ts';

export const beside: Measure = {
  row: 'beside',
  subject: 'a rebuild while clients read from the service, at full and at low load',
  baseline: 'COPY of the same rows during the same reads; the same reads alone',
  async run(bench) {
    const events = bench.size(100_000, 1_000);
    const databaseUrl = await bench.database();
    const filling = bench.worker('subjects/rebuild.ts');
    // At low load, the rebuild handles fifty events per second, so a small part of the log is enough to show its effect.
    const few = Math.min(Math.round(events / 25), 4_000);
    await filling.call({ databaseUrl, fill: few });
    const dataDir = await mkdtemp(join(bench.folder, 'beside-'));
    const first = await bench.service({ databaseUrl, dataDir });
    const paths = await written(bench, first, Math.min(few, 2_000));
    const beside = readsById(first, paths);
    await bench.settle(databaseUrl);
    // The rebuild's memory belongs to the row `rebuild`; here only the service's memory counts.
    const rebuild = bench.worker('subjects/rebuild.ts');
    await bench.load({ ...beside, ...bench.warmUp() });

    const quiet = Math.min(bench.seconds(10), 20);
    const alone = await meanwhile(bench, beside, rest(quiet));
    const low = await meanwhile(bench, beside, rebuild.call<object, Phases>({ databaseUrl, load: 'low' }));
    const after = await meanwhile(bench, beside, rest(quiet));

    await filling.call({ databaseUrl, fill: events - few });
    await filling.stop();
    // This service's projector processed all events, unlike the projector of a service that only answers reads.
    const followed = (await first.stop()).peak;
    bench.memory.reset();
    await bench.settle(databaseUrl);
    const reads = readsById(await bench.service({ databaseUrl, dataDir }), paths);
    await bench.load({ ...reads, ...bench.warmUp() });
    const copy = bench.worker('baselines/copy-rows.ts');
    const copied = { url: databaseUrl, folder: await mkdtemp(join(bench.folder, 'rows-')) };
    await copy.call<object, number>({ ...copied, what: 'export' });
    const base = await meanwhile(bench, reads, copy.call<object, number>({ ...copied, what: 'copy' }));
    await bench.query(databaseUrl, 'CHECKPOINT');
    const full = await meanwhile(bench, reads, rebuild.call<object, Phases>({ databaseUrl }));
    const fullSeconds = full.value.whole ?? Number.NaN;

    return {
      bounds: [
        {
          ratio: 'events/s at full / baseline',
          value: base.value / fullSeconds,
          sense: 'at least',
          bound: 0.25,
        },
        {
          ratio: 'p95 of reads at low / alone',
          value: low.p95 / median([alone.p95, after.p95]),
          sense: 'at most',
          bound: 1.5,
        },
      ],
      figures: [
        { name: 'events', value: events, unit: '' },
        { name: 'rebuild', value: events / fullSeconds, unit: 'events/s' },
        { name: 'baseline', value: events / base.value, unit: 'events/s' },
        { name: 'reads during the rebuild, none failed', value: low.requests + full.requests, unit: '' },
        {
          name: 'memory of a service while that many events were written',
          value: followed,
          unit: 'MB',
        },
        { name: 'p95 alone', value: median([alone.p95, after.p95]), unit: 'ms' },
        { name: 'p95 at low', value: low.p95, unit: 'ms' },
        { name: 'p95 at full', value: full.p95, unit: 'ms' },
        { name: 'rebuild at low', value: few / (low.value.whole ?? Number.NaN), unit: 'events/s' },
      ],
    };
  },
};

/** Seconds by phase, and `whole`. */
type Phases = Record<string, number>;

/** Returns paths of resources that the service itself wrote. */
async function written(bench: Bench, { service }: MeasuredService, count: number): Promise<string[]> {
  const patients = await createPatients(service, 20);
  const { locations } = await createObservations(bench, service, patients, { count, locations: true });
  return locations.map(resourcePath);
}

/** Returns a load of reads by id from two clients. */
function readsById({ service }: MeasuredService, paths: readonly string[]): Load {
  return { target: service.target, clients: 2, requests: { kind: 'reads', paths }, expect: 200 };
}

/** Reads while the given work runs, in periods of one second. `p95` is the median of the periods' p95, in ms. */
async function meanwhile<T>(
  bench: Bench,
  reads: Load,
  work: Promise<T>,
): Promise<{ value: T; requests: number; p95: number }> {
  let over = false;
  const done = work.finally(() => {
    over = true;
  });
  done.catch(() => undefined);
  const p95s: number[] = [];
  let requests = 0;
  do {
    const outcome = await bench.load({ ...reads, seconds: 1 });
    p95s.push(outcome.p95);
    requests += outcome.requests;
  } while (!over);
  return { value: await done, requests, p95: median(p95s) };
}

const rest = (seconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, seconds * 1000));
