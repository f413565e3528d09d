/** How quickly a request's body must arrive. */
import { expect } from 'chai';
import { ArrivalWatch } from '#src/http/body.ts';
import type { Refusal } from '#src/shared/refusal.ts';

const LEAST = { spanMs: 5, bytes: 100, largeBytes: 1_000 };

/** Resolves with the refusal of a body that arrives in pieces of the given `sizes`, one per span. */
function refused(sizes: Iterable<number>): Promise<Refusal> {
  return new Promise((resolve) => {
    const watch = new ArrivalWatch(resolve, LEAST);
    const next = sizes[Symbol.iterator]();
    const tell = (): void => {
      const { done, value } = next.next();
      if (done) return;
      watch.came(value);
      setTimeout(tell, LEAST.spanMs);
    };
    tell();
  });
}

describe('a body that arrives slowly', () => {
  it('is refused when nothing comes for a span', async () => {
    const { status, message, headers } = await refused([10]);
    expect(status).to.equal(400);
    expect(message).to.equal('0 bytes of the body came within 0.005 seconds; send at least 1');
    expect(headers).to.deep.equal({ Connection: 'close' });
  });

  it('is refused when it is large and only drips', async () => {
    function* dripping(): Iterable<number> {
      for (let size = 2_000; size < 3_000; size += 1) yield size;
    }
    expect((await refused(dripping())).message).to.match(/^\d+ bytes of the body .*; send at least 100$/);
  });

  it('is not refused once it has come', async () => {
    let late: Refusal | undefined;
    const watch = new ArrivalWatch((refusal) => {
      late = refusal;
    }, LEAST);
    watch.came(2_000);
    watch.end();
    // This refusal, from another watch, comes later than a refusal from the first watch would have come.
    await refused([1]);
    expect(late).to.equal(undefined);
  });
});
