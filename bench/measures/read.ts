/** A read by id, compared with a route that answers with a constant body of the same size. */
import type { Length } from '../load/plan.ts';
import { alternate, type Measure } from '../measure.ts';
import { createObservations, createPatients, resourcePath } from '../records.ts';
import { median } from '../statistics.ts';

const CLIENTS = 16;

export const read: Measure = {
  row: 'read',
  subject: 'reads by id that jump between 5,000 resources; 16 clients',
  baseline: 'a bare Koa route that returns a constant body of the same size',
  async run(bench) {
    const { service, databaseUrl } = await bench.common();
    const patients = await createPatients(service, 64);
    const made = await createObservations(bench, service, patients, {
      count: bench.size(5_000, 100),
      locations: true,
    });
    const paths = made.locations.map(resourcePath);
    await bench.settle(databaseUrl);
    const { text } = await service.request('GET', paths[0] ?? '', 200);
    const route = bench.worker('baselines/constant-route.ts');
    const port = await route.call<string, number>(text);
    const plan = { clients: CLIENTS, requests: { kind: 'reads', paths }, expect: 200 } as const;
    const constant = (length: Length) =>
      bench.load({ ...plan, target: { host: '127.0.0.1', port }, ...length });
    const subject = (length: Length) => bench.load({ ...plan, target: service.target, ...length });

    await constant(bench.warmUp());
    await subject(bench.warmUp());
    const runs = await alternate(
      bench.options.runs,
      () => constant({ seconds: bench.seconds(4) }),
      () => subject({ seconds: bench.seconds(4) }),
    );
    const rate = median(runs.subject.map((run) => run.rate));
    const baseline = median(runs.baseline.map((run) => run.rate));
    return {
      bounds: [{ ratio: 'rate / baseline', value: rate / baseline, sense: 'at least', bound: 0.4 }],
      figures: [
        { name: 'reads', value: rate, unit: '/s' },
        { name: 'p50', value: median(runs.subject.map(({ p50 }) => p50)), unit: 'ms' },
        { name: 'p99', value: median(runs.subject.map(({ p99 }) => p99)), unit: 'ms' },
        { name: 'body', value: text.length, unit: 'bytes' },
        { name: 'baseline', value: baseline, unit: '/s' },
      ],
    };
  },
};
