/** How many deliveries an instance claims for one endpoint, and how many of them are sent at once. */
import { expect } from 'chai';
import { Lane } from '#src/reactions/webhooks/lane.ts';

const claims = (from: number, count: number): number[] => Array.from({ length: count }, (_, n) => from + n);

/** Begins every delivery that there is room for, and returns them. */
function begin(lane: Lane<number>): number[] {
  const begun: number[] = [];
  for (let next = lane.next(); next !== undefined; next = lane.next()) begun.push(next);
  return begun;
}

describe('the deliveries of one webhook endpoint', () => {
  it('are sent sixteen at a time, in their order; a place is free when an end is noted', () => {
    const lane = new Lane<number>();
    lane.add(claims(0, 20), 1);
    expect(begin(lane)).to.deep.equal(claims(0, 16));
    expect([lane.sent, lane.size, lane.room]).to.deep.equal([16, 20, -4]);
    lane.answered(1);
    expect(begin(lane)).to.deep.equal([]);
    lane.noted(3);
    expect(begin(lane)).to.deep.equal([16, 17, 18]);
  });

  it('are claimed ahead where answers come quickly, and not where they are slow', () => {
    const lane = new Lane<number>();
    expect(lane.room).to.equal(16);
    lane.answered(0.01);
    expect(lane.room).to.equal(32);
    lane.answered(5);
    expect(lane.room).to.equal(16);
  });

  it('are left out when their claim has become old, and can be given up', () => {
    const lane = new Lane<number>();
    lane.add(claims(0, 2), 100);
    lane.add(claims(2, 2), 200);
    expect(lane.takeOld(150)).to.deep.equal([0, 1]);
    expect(lane.takeOld(150)).to.deep.equal([]);
    expect(begin(lane)).to.deep.equal([2, 3]);
    lane.add(claims(4, 20), 200);
    begin(lane);
    expect(lane.clear()).to.deep.equal(claims(18, 6));
    expect(lane.size).to.equal(16);
  });
});
