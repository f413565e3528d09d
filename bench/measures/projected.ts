/**
 * The cost that the read model `search` adds to a create: the service with this read model, compared with the service without
 * it.
 */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import type { Bench } from '../bench.ts';
import type { Length } from '../load/plan.ts';
import { alternate, type Measure } from '../measure.ts';
import { createPatients, FHIR } from '../records.ts';
import { requestTo } from '../service.ts';
import { median } from '../statistics.ts';
import type { Without } from '../subjects/service.ts';

const CLIENTS = 16;

/** The row that measures creates with and without the read model `search`. */
export const projected: Measure = {
  row: 'projected',
  subject: 'creates while the service keeps the read model search up to date; 16 clients, 64 patients',
  baseline: 'the same service without that read model',
  async run(bench) {
    const off = await creates(bench, ['search']);
    const on = await creates(bench, []);
    await off(bench.warmUp());
    await on(bench.warmUp());
    const length = { seconds: bench.seconds(5) };
    const runs = await alternate(
      bench.options.runs,
      () => off(length),
      () => on(length),
    );
    const [without, rate] = [runs.baseline, runs.subject].map((of) => median(of.map((run) => run.rate)));
    if (without === undefined || rate === undefined) throw new Error('nothing was measured');
    return {
      bounds: [{ ratio: 'creates, with / without', value: rate / without, sense: 'at least', bound: 0.8 }],
      figures: [
        { name: 'creates', value: rate, unit: '/s' },
        { name: 'creates without', value: without, unit: '/s' },
      ],
    };
  },
};

async function creates(bench: Bench, without: readonly string[]) {
  const worker = bench.worker('subjects/service.ts', 'watched');
  const target = await worker.call<Without, { host: string; port: number; key: string }>({
    databaseUrl: await bench.database(),
    dataDir: await mkdtemp(join(bench.folder, 'service-')),
    without,
  });
  const request = requestTo(target);
  const patients = await createPatients({ request }, 64);
  const requests = { kind: 'observations', path: `${FHIR}/Observation`, patients } as const;
  return (length: Length) => bench.load({ clients: CLIENTS, requests, expect: 201, target, ...length });
}
