/**
 * A rebuild beside a service that is being read: at full load against COPY of the same rows beside the same reads, and at
 * low load by what it does to those reads. A read that fails fails the row.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench, MeasuredService } from '../bench.ts';
import type { Load } from '../load/plan.ts';
import type { Measure } from '../measure.ts';
import { createObservations, createPatients, pathOf } from '../records.ts';
import { median } from '../statistics.ts';

/** Row 7. */
export const beside: Measure = {
  row: 'beside',
  subject: 'rebuild beside a service that is read, at full and at low load',
  baseline: 'COPY of the same rows beside the same reads; the same reads alone',
  async run(bench) {
    const events = bench.size(100_000, 1_000);
    // At low load it takes its time, a second for fifty events: a short log is enough to see what it does.
    const few = Math.min(Math.round(events / 25), 4_000);
    const short = await besideReads(bench, few);
    const quiet = Math.min(bench.seconds(10), 20);
    const alone = await short.meanwhile(rest(quiet));
    const low = await short.meanwhile(short.rebuild('low'));
    const after = await short.meanwhile(rest(quiet));
    await short.stop();

    const long = await besideReads(bench, events);
    const copy = bench.worker('baselines/copy-rows.ts');
    const copied = { url: long.databaseUrl, folder: await mkdtemp(join(bench.folder, 'rows-')) };
    await copy.call<object, number>({ ...copied, what: 'export' });
    const base = await long.meanwhile(copy.call<object, number>({ ...copied, what: 'copy' }));
    await bench.query(long.databaseUrl, 'CHECKPOINT');
    const full = await long.meanwhile(long.rebuild('full'));
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
        { name: 'reads meanwhile, none failed', value: low.requests + full.requests, unit: '' },
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

/** A log of so many events with its read models, a service on it that is being read, and its rebuild. */
interface BesideReads {
  readonly databaseUrl: string;
  rebuild(load: 'full' | 'low'): Promise<Phases>;
  /** Reads for as long as some work takes. */
  meanwhile<T>(work: Promise<T>): Promise<Meanwhile<T>>;
  stop(): Promise<void>;
}

async function besideReads(bench: Bench, events: number): Promise<BesideReads> {
  const databaseUrl = await bench.database();
  const filling = bench.worker('subjects/rebuild.ts');
  await filling.call({ databaseUrl, fill: events });
  await filling.stop();
  const dataDir = await mkdtemp(join(bench.folder, 'beside-'));
  const measured = await bench.service({ databaseUrl, dataDir });
  const reads = await readsOf(bench, measured, Math.min(events, 2_000));
  await bench.settle(databaseUrl);
  // The row `rebuild` has its memory; here the service's counts.
  const rebuild = bench.worker('subjects/rebuild.ts');
  await bench.load({ ...reads, ...bench.warmUp() });
  return {
    databaseUrl,
    rebuild: (load) => rebuild.call<object, Phases>({ databaseUrl, load }),
    meanwhile: (work) => meanwhile(bench, reads, work),
    async stop() {
      await rebuild.stop();
      await measured.stop();
    },
  };
}

/** Reads by id of what the service itself wrote, by two clients. */
async function readsOf(bench: Bench, { service }: MeasuredService, count: number): Promise<Load> {
  const patients = await createPatients(service, 20);
  const { locations } = await createObservations(bench, service, patients, { count, locations: true });
  const requests = { kind: 'reads', paths: locations.map(pathOf) } as const;
  return { target: service.target, clients: 2, requests, expect: 200 };
}

/** What work gave, and the reads beside it; `p95` is the median of those of their seconds, in ms. */
interface Meanwhile<T> {
  readonly value: T;
  readonly requests: number;
  readonly p95: number;
}

/** Reads for as long as some work takes, in stretches of a second. */
async function meanwhile<T>(bench: Bench, reads: Load, work: Promise<T>): Promise<Meanwhile<T>> {
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
