import { expect } from 'chai';
import { Admission, type Lease, Usage } from '#src/shared/load/admission.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** Work that ends when the test ends it. */
class Works {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();

  do(turns: Admission, of: string, name: string): Promise<string> {
    return turns.run(of, () => {
      this.begun.push(name);
      return new Promise((resolve) => this.#ends.set(name, () => resolve(name)));
    });
  }

  end(name: string): void {
    this.#ends.get(name)?.();
  }
}

/** Waits until everything that can happen now has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

async function refusalOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof Refusal ? error.kind : `no refusal: ${error}`;
}

describe('admission', () => {
  const limits = { total: 3, ofOne: 2, waiting: 2, waitMs: 60_000 };

  it('are of one sharer no more than its part, and another one begins at once', async () => {
    const [turns, works] = [new Admission(limits), new Works()];
    const all = ['a1', 'a2', 'a3'].map((name) => works.do(turns, 'a', name));
    all.push(works.do(turns, 'b', 'b1'));
    await settled();
    expect(works.begun).to.deep.equal(['a1', 'a2', 'b1']);
    works.end('a1');
    await settled();
    expect(works.begun).to.deep.equal(['a1', 'a2', 'b1', 'a3']);
    for (const name of ['a2', 'a3', 'b1']) works.end(name);
    expect(await Promise.all(all)).to.deep.equal(['a1', 'a2', 'a3', 'b1']);
  });

  it('go to the user that has the fewest, not to the one that came first', async () => {
    const [turns, works] = [new Admission({ ...limits, total: 2, waiting: 9 }), new Works()];
    const all = ['a1', 'a2', 'a3', 'a4'].map((name) => works.do(turns, 'a', name));
    all.push(works.do(turns, 'b', 'b1'), works.do(turns, 'c', 'c1'));
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'a4']) {
      await settled();
      works.end(name);
    }
    await Promise.all(all);
    expect(works.begun).to.deep.equal(['a1', 'a2', 'b1', 'c1', 'a3', 'a4']);
  });

  it('are refused when too many wait, and when one has waited too long; then others still have theirs', async () => {
    const [turns, works] = [new Admission({ total: 1, ofOne: 1, waiting: 1, waitMs: 1 }), new Works()];
    const first = works.do(turns, 'a', 'a1');
    const second = refusalOf(works.do(turns, 'a', 'a2'));
    expect(await refusalOf(works.do(turns, 'a', 'a3'))).to.equal('unavailable');
    expect(await second).to.equal('unavailable');
    works.end('a1');
    await first;
    const last = works.do(turns, 'b', 'b1');
    works.end('b1');
    expect(await last).to.equal('b1');
    expect(works.begun).to.deep.equal(['a1', 'b1']);
  });

  it('are given back by work that fails', async () => {
    const turns = new Admission({ ...limits, total: 1, ofOne: 1 });
    const failing = turns.run('a', () => Promise.reject(new Error('no')));
    await failing.catch(() => undefined);
    expect(await turns.run('a', async () => 7)).to.equal(7);
  });

  it('count bytes: of one user its share or one larger body, and another one’s is not behind them', async () => {
    const admission = new Admission({ total: 40, ofOne: 10, waiting: 9, waitMs: 60_000 });
    const begun: string[] = [];
    const enter = async (of: string, bytes: number, name: string): Promise<Lease> => {
      const lease = await admission.enter(of, bytes);
      begun.push(name);
      return lease;
    };
    const large = enter('a', 12, 'a1');
    const others = [enter('a', 1, 'a2'), enter('a', 4, 'a3'), enter('a', 6, 'a4')];
    const small = await enter('b', 3, 'b1');
    expect(begun).to.deep.equal(['a1', 'b1']);
    expect(admission.waiting).to.equal(3);
    (await large).release();
    const [second, third] = await Promise.all(others.slice(0, 2));
    await settled();
    expect(begun).to.deep.equal(['a1', 'b1', 'a2', 'a3']);
    second?.release();
    const last = await others[2];
    expect(begun.at(-1)).to.equal('a4');
    for (const lease of [small, third, last]) lease?.release();
    expect(admission.waiting).to.equal(0);
  });

  it('let nobody overtake one that waits for room in the total', async () => {
    const admission = new Admission({ total: 10, ofOne: 10, waiting: 9, waitMs: 60_000 });
    const first = await admission.enter('a', 6);
    const begun: string[] = [];
    const large = admission.enter('b', 8).then((lease) => {
      begun.push('b');
      return lease;
    });
    const late = admission.enter('c', 2).then((lease) => {
      begun.push('c');
      return lease;
    });
    await settled();
    expect(begun).to.deep.equal([]);
    first.release();
    (await large).release();
    (await late).release();
    expect(begun).to.deep.equal(['b', 'c']);
  });

  it('refuse at once where nobody waits: of all together, and of one user', () => {
    const usage = new Usage({ total: 10, ofOne: 6 });
    expect([usage.take('a', 6), usage.take('a', 1), usage.take('b', 5), usage.take('b', 4)]).to.deep.equal([
      ...[true, false, false, true],
    ]);
    usage.give('a', 6);
    expect(usage.used).to.equal(4);
    expect(usage.take('b', 3)).to.equal(false);
    expect(usage.take('a', 6)).to.equal(true);
  });
});
