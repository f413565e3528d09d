import { expect } from 'chai';
import fc from 'fast-check';
import { BatchCutter, placeInAppend } from '#src/events/batches.ts';
import { BEGINNING, type RecordedEvent } from '#src/events/store.ts';

/** Returns the events of appends of the given sizes, one after another. */
function eventsOf(appends: readonly number[]): RecordedEvent[] {
  return appends.flatMap((count, n) =>
    Array.from({ length: count }, (_, index) => ({
      id: `${n}/${index}`,
      type: 'ResourceCreated',
      stream: 'record-1',
      revision: 0,
      position: BEGINNING,
      data: 'x'.repeat(10),
      metadata: `{"command_id":"\\"append\\":[7,9]","append":[${index},${count}]}`,
    })),
  );
}

describe('batches', () => {
  it('are all the events in order, in whole appends, within the bounds unless one append is larger', () => {
    fc.assert(
      fc.property(
        fc.array(fc.integer({ min: 1, max: 30 }), { maxLength: 40 }),
        fc.integer({ min: 1, max: 40 }),
        fc.integer({ min: 50, max: 2_000 }),
        fc.array(fc.tuple(fc.integer({ min: 1, max: 50 }), fc.boolean()), { maxLength: 20 }),
        (appends, limit, bytes, arrivals) => {
          const events = eventsOf(appends);
          const cutter = new BatchCutter(limit, bytes);
          const batches: (readonly RecordedEvent[])[] = [];
          const take = (ended: boolean): void => {
            for (let batch = cutter.take(ended); batch !== undefined; batch = cutter.take(ended))
              batches.push(batch);
          };
          let arrived = 0;
          for (const [count, whole] of arrivals) {
            // Pages may end in the middle of an append; the feed's batches never do.
            let end = Math.min(arrived + count, events.length);
            while (whole && end < events.length && placeInAppend(events[end] ?? { metadata: '' }).index > 0)
              end += 1;
            cutter.push(events.slice(arrived, end));
            arrived = end;
            take(whole);
          }
          cutter.push(events.slice(arrived));
          take(true);

          expect(cutter.empty).to.equal(true);
          expect(batches.flat()).to.deep.equal(events);
          for (const batch of batches) {
            const { index, count } = placeInAppend(batch.at(-1) ?? { metadata: '' });
            expect(index).to.equal(count - 1);
            const size = batch.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0);
            expect((batch.length <= limit && size <= bytes) || batch.length === count).to.equal(true);
          }
        },
      ),
    );
  });

  it('take an event that does not say where it stands as an append of its own', () => {
    expect(placeInAppend({ metadata: '{}' })).to.deep.equal({ index: 0, count: 1 });
    expect(placeInAppend({ metadata: '{"note":"\\"append\\":[0,2]"}' })).to.deep.equal({
      index: 0,
      count: 1,
    });
  });
});
