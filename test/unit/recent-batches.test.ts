import { expect } from 'chai';
import { RecentBatches } from '#src/events/batches.ts';
import { toPosition } from '#src/events/position.ts';
import type { RecordedEvent } from '#src/events/store.ts';

/** Returns a batch with the events from one position to another. */
function makeBatch(from: number, to: number) {
  const events = Array.from({ length: to - from + 1 }, (_, n): RecordedEvent => {
    const own = { id: '', type: '', stream: 'record-1', revision: 0, data: '{}', metadata: '{}' };
    return { ...own, position: toPosition(from + n) };
  });
  return { previous: toPosition(from - 1), events, position: toPosition(to) };
}

describe('recent batches', () => {
  it('give each event once, though the answer to an append came after others had read it', () => {
    const recent = new RecentBatches();
    recent.add(makeBatch(1, 5));
    // This process wrote events 3 and 4, which were already in a page up to 5.
    recent.add(makeBatch(3, 4));
    const { events = [], position } = recent.after(toPosition(0), 100) ?? {};
    expect(position).to.equal(toPosition(5));
    expect(events.map((event) => event.position)).to.deep.equal([1, 2, 3, 4, 5].map(toPosition));
    recent.add(makeBatch(6, 7));
    expect(recent.after(toPosition(5), 100)?.position).to.equal(toPosition(7));
  });
});
