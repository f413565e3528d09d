/**
 * The cost of counting requests: creates and reads on a service with limits that are never reached, compared with a service
 * without limits.
 */
import type { Bench, MeasuredService } from '../bench.ts';
import type { Length } from '../load/plan.ts';
import { alternate, type Measure } from '../measure.ts';
import { createObservations, createPatients, FHIR, resourcePath } from '../records.ts';
import { median } from '../statistics.ts';

const CLIENTS = 16;
/**
 * The minimum number of alternating runs, and the duration of each in seconds. The difference is a few percent, which is less
 * than the variation of a machine over minutes.
 */
const RUNS = 9;
const SECONDS = 2;

/** The row for rate limits. */
export const limits: Measure = {
  row: 'limits',
  subject: 'creates and reads by id with rate limits; 16 clients',
  baseline: 'the same service with RATE_LIMIT_PER_MINUTE=0',
  async run(bench) {
    const off = await makeLoads(bench, await bench.service({ rateLimit: 0 }));
    const on = await makeLoads(bench, await bench.service());
    for (const loads of [off, on]) {
      await loads.create(bench.warmUp());
      await loads.read(bench.warmUp());
    }
    const rates = async (what: 'create' | 'read') => {
      const length = { seconds: bench.seconds(SECONDS) };
      const runs = await alternate(
        Math.max(RUNS, bench.options.runs),
        () => off[what](length),
        () => on[what](length),
      );
      const without = runs.baseline.map(({ rate }) => rate);
      const limited = runs.subject.map(({ rate }) => rate);
      return {
        off: median(without),
        on: median(limited),
        // The ratio between neighbouring runs, so that a slow phase of the machine affects both sides.
        ratio: median(limited.map((rate, run) => rate / (without[run] ?? 0))),
      };
    };
    const creates = await rates('create');
    const reads = await rates('read');
    return {
      bounds: [
        { ratio: 'creates, on / off', value: creates.ratio, sense: 'at least', bound: 0.95 },
        { ratio: 'reads, on / off', value: reads.ratio, sense: 'at least', bound: 0.95 },
      ],
      figures: [
        { name: 'creates', value: creates.on, unit: '/s' },
        { name: 'creates without limits', value: creates.off, unit: '/s' },
        { name: 'reads', value: reads.on, unit: '/s' },
        { name: 'reads without limits', value: reads.off, unit: '/s' },
      ],
    };
  },
};

async function makeLoads(bench: Bench, { service, databaseUrl }: MeasuredService) {
  const patients = await createPatients(service, 64);
  const made = await createObservations(bench, service, patients, {
    count: bench.size(2_000, 100),
    locations: true,
  });
  const paths = made.locations.map(resourcePath);
  await bench.settle(databaseUrl);
  const { target } = service;
  const creates = { kind: 'observations', path: `${FHIR}/Observation`, patients } as const;
  const reads = { kind: 'reads', paths } as const;
  return {
    create: (length: Length) =>
      bench.load({ clients: CLIENTS, requests: creates, expect: 201, target, ...length }),
    read: (length: Length) =>
      bench.load({ clients: CLIENTS, requests: reads, expect: 200, target, ...length }),
  };
}
