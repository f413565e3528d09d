/** The first write to a long stream after a start of the service against the writes that follow. */
import type { MeasuredService } from '../bench.ts';
import type { Measure } from '../measure.ts';
import { createPatients, FHIR } from '../records.ts';
import { observation } from '../sample.ts';
import { median } from '../statistics.ts';

/** Entries of a transaction that fills the stream. */
const ENTRIES = 500;
const WARM = 50;

/** Row 8. */
export const cold: Measure = {
  row: 'cold',
  subject: 'cold write to a stream of 100,000 events: the first after a start of the service',
  baseline: 'a warm write to the same stream',
  async run(bench) {
    let running = await bench.service();
    const [long = '', other = ''] = await createPatients(running.service, 2);
    const events = bench.size(100_000, 1_000);
    await bench.load({
      target: running.service.target,
      clients: 1,
      requests: { kind: 'additions', path: FHIR, patient: long, entries: ENTRIES },
      expect: 200,
      count: Math.ceil(events / ENTRIES),
    });
    await bench.settle(running.databaseUrl);

    const colds: number[] = [];
    const warms: number[] = [];
    for (let start = 0; start < bench.options.runs * 2 - 1; start += 1) {
      await running.stop();
      running = await bench.service(running);
      // The process is warm, the stream is not.
      for (let n = 0; n < 4 * WARM; n += 1) await timeCreate(running, other, n);
      colds.push(await timeCreate(running, long, 0));
      // Not a whole number of snapshots apart, so that starts meet streams at different distances from their snapshot.
      const times: number[] = [];
      for (let n = 1; n <= WARM + 23; n += 1) times.push(await timeCreate(running, long, n));
      warms.push(median(times));
    }
    const value = median(colds);
    const baseline = median(warms);
    return {
      bounds: [{ ratio: 'cold / warm', value: value / baseline, sense: 'at most', bound: 5 }],
      figures: [
        { name: 'events in the stream', value: events, unit: '' },
        { name: 'cold, median of starts', value, unit: 'ms' },
        { name: 'cold, slowest', value: Math.max(...colds), unit: 'ms' },
        { name: 'warm p50', value: baseline, unit: 'ms' },
      ],
    };
  },
};

/** One create outside any load, in ms. */
async function timeCreate({ service }: MeasuredService, patient: string, n: number): Promise<number> {
  const body = observation(`Patient/${patient}`, n);
  const began = performance.now();
  await service.request('POST', `${FHIR}/Observation`, 201, body);
  return performance.now() - began;
}
