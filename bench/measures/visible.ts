/** The time from the call of append until reads see the event, compared with the append alone. */
import { alternate, type Measure } from '../measure.ts';
import { ascending, median, quantile } from '../statistics.ts';

export const visible: Measure = {
  row: 'visible',
  subject: 'the time from an append until the write is visible; one client, all projections running',
  baseline: 'the append alone, to a log without projections',
  async run(bench) {
    const appends = bench.worker('subjects/visible.ts', 'watched');
    await appends.call({ alone: await bench.database(), projected: await bench.database() });
    const time = (isVisible: boolean, count: number): Promise<number[]> =>
      appends.call({ visible: isVisible, count });
    const count = bench.size(1_000, 50);
    await time(false, count);
    await time(true, count);
    const runs = await alternate(
      bench.options.runs,
      () => time(false, count),
      () => time(true, count),
    );
    const p50 = median(runs.subject.map(median));
    const baseline = median(runs.baseline.map(median));
    const p99 = median(runs.subject.map((times) => quantile(times.sort(ascending), 0.99)));
    return {
      bounds: [
        { ratio: 'p50 / p50 of the append alone', value: p50 / baseline, sense: 'at most', bound: 2.5 },
      ],
      figures: [
        { name: 'visible p50', value: p50, unit: 'ms' },
        { name: 'visible p99', value: p99, unit: 'ms' },
        { name: 'append alone p50', value: baseline, unit: 'ms' },
      ],
    };
  },
};
