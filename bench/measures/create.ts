/** A create (validated, durable and visible to the next read), compared with one INSERT of the same text. */
import type { Length, Outcome } from '../load/plan.ts';
import { alternate, type Measure } from '../measure.ts';
import { createPatients, FHIR, resourcePath } from '../records.ts';
import { median } from '../statistics.ts';

const CLIENTS = 16;

export const create: Measure = {
  row: 'create',
  subject: 'creates that are validated, durable and visible to the next read; 16 clients, 64 patients',
  baseline: 'a bare Koa route that inserts the same text into an indexed table with one INSERT',
  async run(bench) {
    const { service } = await bench.common();
    const patients = await createPatients(service, 64);
    const route = bench.worker('baselines/insert-route.ts');
    const port = await route.call<object, number>({ url: await bench.database(), connections: CLIENTS });
    const plan = {
      clients: CLIENTS,
      requests: { kind: 'observations', path: `${FHIR}/Observation`, patients },
      expect: 201,
    } as const;
    const insert = (length: Length): Promise<Outcome> =>
      bench.load({ ...plan, target: { host: '127.0.0.1', port }, ...length });
    const subject = async (length: Length): Promise<Outcome> => {
      const outcome = await bench.load({ ...plan, target: service.target, ...length, locations: true });
      const last = outcome.locations.at(-1);
      if (last !== undefined) await service.request('GET', resourcePath(last), 200);
      return outcome;
    };

    await insert(bench.warmUp());
    await subject(bench.warmUp());
    const runs = await alternate(
      bench.options.runs,
      () => insert({ seconds: bench.seconds(5) }),
      () => subject({ seconds: bench.seconds(5) }),
    );
    const rate = median(runs.subject.map((run) => run.rate));
    const baseline = median(runs.baseline.map((run) => run.rate));
    return {
      bounds: [
        { ratio: 'rate / baseline', value: rate / baseline, sense: 'at least', bound: 0.6 },
        {
          ratio: 'p99 / own p50',
          value: median(runs.subject.map(({ p99, p50 }) => p99 / p50)),
          sense: 'at most',
          bound: 6,
        },
      ],
      figures: [
        { name: 'creates', value: rate, unit: '/s' },
        { name: 'p50', value: median(runs.subject.map(({ p50 }) => p50)), unit: 'ms' },
        { name: 'p99', value: median(runs.subject.map(({ p99 }) => p99)), unit: 'ms' },
        { name: 'baseline', value: baseline, unit: '/s' },
      ],
    };
  },
};
