/** The first write to a long stream after the service has started, compared with the writes that follow. */
import type { Measure } from '../measure.ts';
import { createObservations, createPatients, FHIR } from '../records.ts';
import { median } from '../statistics.ts';

/** Number of entries in each transaction that fills the stream. */
const ENTRIES = 500;
/**
 * Not a divisor of 500, the number of events between snapshots, so that each start finds the stream at a different distance
 * from its last snapshot.
 */
const WARM = 73;
/** Number of creates, in other streams, that warm up the process after a start. */
const WARM_UP = 8_000;

export const cold: Measure = {
  row: 'cold',
  subject: 'a cold write to a stream of 100,000 events (the first write after the service starts)',
  baseline: 'a warm write to the same stream',
  async run(bench) {
    let running = await bench.service();
    const [long = '', ...others] = await createPatients(running.service, 17);
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
      const { service } = running;
      const create = async (count: number): Promise<number> =>
        (await createObservations(bench, service, [long], { clients: 1, count })).p50;
      // Warms up the process, but not the stream.
      await createObservations(bench, service, others, bench.warmUp(WARM_UP));
      colds.push(await create(1));
      warms.push(await create(WARM));
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
