/** The history of a resource with 50 versions, compared with a read by id. */
import type { Length } from '../load/plan.ts';
import { alternate, type Measure } from '../measure.ts';
import { createObservations, createPatients, resourcePath } from '../records.ts';
import { median } from '../statistics.ts';

const CLIENTS = 16;
const VERSIONS = 50;

export const history: Measure = {
  row: 'history',
  subject: `histories of ${VERSIONS} versions on one page; ${CLIENTS} clients, 20 resources`,
  baseline: 'reads of the same resources by id',
  async run(bench) {
    const { service, databaseUrl } = await bench.common();
    const patients = await createPatients(service, 1);
    const made = await createObservations(bench, service, patients, { count: 20, locations: true });
    const paths = made.locations.map(resourcePath);
    await bench.load({
      target: service.target,
      clients: CLIENTS,
      requests: { kind: 'updates', paths, patients },
      expect: 200,
      count: paths.length * (VERSIONS - 1),
    });
    await bench.settle(databaseUrl);
    const histories = paths.map((path) => `${path}/_history?_count=${VERSIONS}`);
    const { text } = await service.request('GET', histories[0] ?? '', 200);
    const versions = (JSON.parse(text) as { entry: object[] }).entry.length;
    if (versions !== VERSIONS) throw new Error(`a history of ${versions} versions instead of ${VERSIONS}`);

    const load = (of: readonly string[], length: Length) =>
      bench.load({
        target: service.target,
        clients: CLIENTS,
        requests: { kind: 'reads', paths: of },
        expect: 200,
        ...length,
      });
    await load(paths, bench.warmUp());
    await load(histories, bench.warmUp(3_000));
    const runs = await alternate(
      bench.options.runs,
      () => load(paths, { seconds: bench.seconds(4) }),
      () => load(histories, { seconds: bench.seconds(4) }),
    );
    // A query that the service ignores but hasn't seen before, so that the page isn't cached.
    const unseen = Array.from(
      { length: bench.size(3_000, 16) },
      (_, n) => `${histories[n % histories.length]}&unseen=${n}`,
    );
    const first = await load(unseen, { count: unseen.length });
    const rate = median(runs.subject.map((run) => run.rate));
    const baseline = median(runs.baseline.map((run) => run.rate));
    return {
      bounds: [{ ratio: 'rate / baseline', value: rate / baseline, sense: 'at least', bound: 0.2 }],
      figures: [
        { name: 'histories', value: rate, unit: '/s' },
        { name: 'p50', value: median(runs.subject.map(({ p50 }) => p50)), unit: 'ms' },
        { name: 'p99', value: median(runs.subject.map(({ p99 }) => p99)), unit: 'ms' },
        { name: 'histories not read before', value: first.rate, unit: '/s' },
        { name: 'body', value: text.length / 1000, unit: 'kB' },
        { name: 'baseline', value: baseline, unit: '/s' },
      ],
    };
  },
};
