/**
 * Reads of the log's head in EventStoreDB that are shared by all callers. `contract/eventstoredb` tests this with a real
 * server.
 */
import { expect } from 'chai';
import { SharedRead } from '#src/events/eventstoredb/shared-read.ts';

describe('a shared read', () => {
  /** Reads that end when the test ends them. */
  function newReads() {
    const reads: { readonly end: (value: number) => void; readonly fail: (error: Error) => void }[] = [];
    const shared = new SharedRead(() => new Promise<number>((end, fail) => void reads.push({ end, fail })));
    const turn = () => new Promise((resolve) => setImmediate(resolve));
    return { reads, shared, turn };
  }

  it('begins after each of its callers asked, and one at a time', async () => {
    const { reads, shared, turn } = newReads();
    const first = shared.get();
    const [second, third] = [shared.get(), shared.get()];
    expect(reads).to.have.length(1);
    reads[0]?.end(1);
    expect(await first).to.equal(1);
    await turn();
    expect(reads).to.have.length(2);
    const fourth = shared.get();
    reads[1]?.end(2);
    expect(await Promise.all([second, third])).to.deep.equal([2, 2]);
    await turn();
    expect(reads).to.have.length(3);
    reads[2]?.end(3);
    expect(await fourth).to.equal(3);
  });

  it('fails for its own callers; the next one goes on', async () => {
    const { reads, shared, turn } = newReads();
    const first = shared.get().catch((error: Error) => error.message);
    const second = shared.get();
    reads[0]?.fail(new Error('away'));
    expect(await first).to.equal('away');
    await turn();
    reads[1]?.end(2);
    expect(await second).to.equal(2);
    const third = shared.get();
    expect(reads).to.have.length(3);
    reads[2]?.end(3);
    expect(await third).to.equal(3);
  });
});
