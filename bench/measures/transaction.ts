/** Transactions of about 300 entries, compared with COPY of the same JSON to three tables. */
import type { Length } from '../load/plan.ts';
import { alternate, type Measure } from '../measure.ts';
import { FHIR } from '../records.ts';
import { median } from '../statistics.ts';

const CLIENTS = 4;
const ENTRIES = 300;
/** The number of different transactions, which are prepared in advance and sent in turn. */
const KINDS = 8;

export const transaction: Measure = {
  row: 'transaction',
  subject: `transactions of ${ENTRIES} linked entries, counted in resources; ${CLIENTS} clients`,
  baseline: `COPY of the same JSON into three tables (log, resources, history), over ${CLIENTS} connections with one commit per ${ENTRIES} resources`,
  async run(bench) {
    const { service } = await bench.common();
    const copy = bench.worker('baselines/copy-three.ts');
    await copy.call({ url: await bench.database(), clients: CLIENTS, entries: ENTRIES, kinds: KINDS });
    const baselineRun = (seconds: number): Promise<number> => copy.call({ seconds });
    const subject = (length: Length) =>
      bench.load({
        target: service.target,
        clients: CLIENTS,
        requests: { kind: 'transactions', path: FHIR, entries: ENTRIES, kinds: KINDS },
        expect: 200,
        ...length,
      });

    await baselineRun(bench.seconds(2));
    await subject(bench.warmUp(60));
    const runs = await alternate(
      bench.options.runs,
      () => baselineRun(bench.seconds(6)),
      () => subject({ seconds: bench.seconds(6) }),
    );
    const rate = median(runs.subject.map((run) => run.rate * ENTRIES));
    const baseline = median(runs.baseline);
    return {
      bounds: [{ ratio: 'resources / baseline', value: rate / baseline, sense: 'at least', bound: 0.25 }],
      figures: [
        { name: 'resources', value: rate, unit: '/s' },
        { name: 'p50 of a transaction', value: median(runs.subject.map(({ p50 }) => p50)), unit: 'ms' },
        { name: 'p99 of a transaction', value: median(runs.subject.map(({ p99 }) => p99)), unit: 'ms' },
        { name: 'baseline', value: baseline, unit: '/s' },
      ],
    };
  },
};
