/** Creates when the log is large, compared with creates when it was small. */
import type { Bound, Measure } from '../measure.ts';
import { createObservations, createPatients } from '../records.ts';
import { median } from '../statistics.ts';
import { readSize } from '../writes/count.ts';

const TENTHS = 10;
/** Number of resources per record. It determines how many streams grow. */
const RECORD = 500;
/** The maximum growth of the process's memory, from the second tenth of the run to the last, that still counts as flat. */
const FLAT = 1.25;

export const growth: Measure = {
  row: 'growth',
  subject: 'creates in the last tenth of 500,000 (50,000 without --full), 16 clients',
  baseline: 'creates in the first tenth',
  async run(bench) {
    const total = bench.size(bench.options.full ? 500_000 : 50_000, 500);
    const { service, databaseUrl, stop } = await bench.service();
    const patients = await createPatients(service, Math.max(64, Math.round(total / RECORD)));
    await createObservations(bench, service, patients, bench.warmUp());
    await bench.settle(databaseUrl);
    const size = await readSize(bench, databaseUrl);
    const tenths: { rate: number; p99: number; from: number; to: number }[] = [];
    for (let tenth = 0; tenth < TENTHS; tenth += 1) {
      const from = performance.now();
      const { rate, p99 } = await createObservations(bench, service, patients, {
        count: Math.round(total / TENTHS),
      });
      tenths.push({ rate, p99, from, to: performance.now() });
      bench.say(`  tenth ${tenth + 1}: ${rate.toFixed(0)}/s`);
    }
    const memory = await stop();
    await bench.settle(databaseUrl);
    const grown = (await readSize(bench, databaseUrl)) - size;
    const [first, second] = tenths;
    const last = tenths.at(-1);
    if (first === undefined || second === undefined || last === undefined) throw new Error('no tenths');
    const flat: Bound = {
      ratio: 'memory in the last tenth / in the second',
      value: memory.between(last.from, last.to) / memory.between(second.from, second.to),
      sense: 'at most',
      bound: FLAT,
    };
    return {
      bounds: [
        { ratio: 'last tenth / first', value: last.rate / first.rate, sense: 'at least', bound: 0.8 },
        flat,
      ],
      figures: [
        { name: 'creates', value: total, unit: '' },
        { name: 'first tenth', value: first.rate, unit: '/s' },
        { name: 'median tenth', value: median(tenths.map(({ rate }) => rate)), unit: '/s' },
        { name: 'last tenth', value: last.rate, unit: '/s' },
        { name: 'last tenth p99', value: last.p99, unit: 'ms' },
        { name: 'tables and indexes', value: grown / total, unit: 'bytes a resource' },
        { name: 'memory, last tenth', value: memory.between(last.from, last.to), unit: 'MB' },
      ],
    };
  },
};
