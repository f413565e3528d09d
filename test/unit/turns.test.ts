import { expect } from 'chai';
import { Refusal } from '#src/shared/refusal.ts';
import { Turns } from '#src/shared/turns.ts';

/** Work that ends when it is told to. */
class Works {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();

  do(turns: Turns, of: string, name: string): Promise<string> {
    return turns.run(of, () => {
      this.begun.push(name);
      return new Promise((resolve) => this.#ends.set(name, () => resolve(name)));
    });
  }

  end(name: string): void {
    this.#ends.get(name)?.();
  }
}

/** Until everything that was made possible has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

async function refusalOf(promise: Promise<unknown>): Promise<string> {
  const error = await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof Refusal ? error.kind : `no refusal: ${error}`;
}

describe('turns', () => {
  const limits = { total: 3, ofOne: 2, waiting: 2, waitMs: 60_000 };

  it('are of one sharer no more than its part, and another one begins at once', async () => {
    const [turns, works] = [new Turns(limits), new Works()];
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

  it('go to who has the fewest, whoever came first', async () => {
    const [turns, works] = [new Turns({ ...limits, total: 2, waiting: 9 }), new Works()];
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
    const [turns, works] = [new Turns({ total: 1, ofOne: 1, waiting: 1, waitMs: 1 }), new Works()];
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
    const turns = new Turns({ ...limits, total: 1, ofOne: 1 });
    const failing = turns.run('a', () => Promise.reject(new Error('no')));
    await failing.catch(() => undefined);
    expect(await turns.run('a', async () => 7)).to.equal(7);
  });
});
