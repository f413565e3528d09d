/**
 * How much of a log has been processed, and how many events the log has. Both are always counted, never derived from
 * positions.
 */
import { expect } from 'chai';
import { toPosition } from '#src/events/position.ts';
import { expectedEvents, shareBefore } from '#src/events/share.ts';
import { BEGINNING } from '#src/events/store.ts';

describe('the share of a log', () => {
  it('gives a number of events, where positions are bytes', () => {
    const head = toPosition(8_000_000);
    expect(expectedEvents(1_000, toPosition(2_000_000), head)).to.equal(4_000);
    expect(expectedEvents(4_100, head, head)).to.equal(4_100);
  });

  it('is no reason to divide by nothing', () => {
    expect(shareBefore(BEGINNING, BEGINNING)).to.equal(1);
    expect(expectedEvents(0, BEGINNING, BEGINNING)).to.equal(0);
    expect(expectedEvents(0, BEGINNING, toPosition(10))).to.equal(0);
  });
});
