/** A rebuild of `resources` and `history`, including comparison and swap, compared with COPY of the same rows. */
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { alternate, type Measure } from '../measure.ts';
import { median } from '../statistics.ts';

export const rebuild: Measure = {
  row: 'rebuild',
  subject: 'a rebuild of resources and history, including indexes, comparison and swap',
  baseline: 'COPY of the same rows into the same tables with their primary keys only',
  async run(bench) {
    const events = bench.size(100_000, 1_000);
    const databaseUrl = await bench.database();
    const filling = bench.worker('subjects/rebuild.ts');
    await filling.call({ databaseUrl, fill: events });
    await filling.stop();
    await bench.settle(databaseUrl);
    const copy = bench.worker('baselines/copy-rows.ts');
    const folder = await mkdtemp(join(bench.folder, 'rows-'));
    const copied = { url: databaseUrl, folder };
    await copy.call<object, number>({ ...copied, what: 'export' });

    const subject = bench.worker('subjects/rebuild.ts', 'watched');
    const runs = await alternate(
      bench.options.runs,
      async () => {
        const seconds = await copy.call<object, number>({ ...copied, what: 'copy' });
        await bench.query(databaseUrl, 'CHECKPOINT');
        return seconds;
      },
      async () => {
        const phases = await subject.call<object, Record<string, number>>({ databaseUrl });
        await bench.query(databaseUrl, 'CHECKPOINT');
        return phases;
      },
    );
    const seconds = median(runs.subject.map(({ whole }) => whole ?? Number.NaN));
    const baseline = median(runs.baseline);
    const phases = Object.keys(runs.subject[0] ?? {}).filter((phase) => phase !== 'whole');
    return {
      bounds: [{ ratio: 'events/s / baseline', value: baseline / seconds, sense: 'at least', bound: 0.25 }],
      figures: [
        { name: 'events', value: events, unit: '' },
        { name: 'rebuild', value: events / seconds, unit: 'events/s' },
        { name: 'baseline', value: events / baseline, unit: 'events/s' },
        ...phases.map((phase) => ({
          name: phase,
          value: median(runs.subject.map((run) => run[phase] ?? 0)),
          unit: 's',
        })),
      ],
    };
  },
};
