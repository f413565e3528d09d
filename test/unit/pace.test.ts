import { expect } from 'chai';
import { Pace } from '#queries/database/pace.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** Work that ends when the test ends it. */
class Works {
  readonly begun: string[] = [];
  readonly #ends = new Map<string, () => void>();

  readonly do = (name: string) => (): Promise<string> => {
    this.begun.push(name);
    return new Promise((resolve) => this.#ends.set(name, () => resolve(name)));
  };

  end(name: string): void {
    this.#ends.get(name)?.();
  }

  /** Waits until the given number of tasks have begun. */
  async until(count: number): Promise<void> {
    while (this.begun.length < count) await new Promise((resolve) => setTimeout(resolve, 1));
  }
}

/** Waits until everything that can happen now has happened. */
const settled = () => new Promise((resolve) => setImmediate(resolve));

const LIMITS = { activeMs: 1_000, restMs: 5, waiting: 3, waitMs: 60_000 };

describe('work that yields', () => {
  it('begins at once while the user does nothing, and so does work that yields to another user', async () => {
    const [pace, works] = [new Pace(LIMITS), new Works()];
    const all = ['a1', 'a2', 'a3'].map((name) => pace.yielding('owner', works.do(name)));
    const own = pace.own('owner', works.do('own'));
    all.push(pace.yielding('other', works.do('b1')), pace.yielding('other', works.do('b2')));
    await settled();
    expect(works.begun).to.deep.equal(['a1', 'a2', 'a3', 'own', 'b1', 'b2']);
    for (const name of works.begun) works.end(name);
    await Promise.all([...all, own]);
  });

  it('begins one at a time while the user works, and the user’s own begins at once', async () => {
    const [pace, works] = [new Pace(LIMITS), new Works()];
    const own = pace.own('owner', works.do('own 1'));
    const all = ['a1', 'a2', 'a3'].map((name) => pace.yielding('owner', works.do(name)));
    const again = pace.own('owner', works.do('own 2'));
    await settled();
    expect(works.begun).to.deep.equal(['own 1', 'a1', 'own 2']);
    works.end('a1');
    await works.until(4);
    expect(works.begun.at(-1)).to.equal('a2');
    works.end('a2');
    await works.until(5);
    works.end('a3');
    for (const name of ['own 1', 'own 2']) works.end(name);
    expect(await Promise.all(all)).to.deep.equal(['a1', 'a2', 'a3']);
    await Promise.all([own, again]);
  });

  it('rests between two by the clock, and not once the user has done nothing for a while', async () => {
    let now = 1_000;
    const [pace, works] = [new Pace({ ...LIMITS, restMs: 40, activeMs: 100 }, () => now), new Works()];
    const own = pace.own('owner', works.do('own'));
    await settled();
    works.end('own');
    await own;
    const first = pace.yielding('owner', works.do('a1'));
    works.end('a1');
    await first;
    now += 39;
    const second = pace.yielding('owner', works.do('a2'));
    await settled();
    expect(works.begun).to.deep.equal(['own', 'a1']);
    now += 200;
    // The pause ends with its timer. After that, the user counts as idle, so no task waits.
    await works.until(3);
    const more = ['a3', 'a4'].map((name) => pace.yielding('owner', works.do(name)));
    await settled();
    expect(works.begun).to.deep.equal(['own', 'a1', 'a2', 'a3', 'a4']);
    for (const name of ['a2', 'a3', 'a4']) works.end(name);
    await Promise.all([second, ...more]);
  });

  it('is refused when too much waits, and when it has waited too long', async () => {
    const [pace, works] = [new Pace({ ...LIMITS, waiting: 1, waitMs: 1 }), new Works()];
    const own = pace.own('owner', works.do('own'));
    const first = pace.yielding('owner', works.do('a1'));
    const refusal = async (work: Promise<unknown>) => {
      const error = await work.then(
        () => undefined,
        (reason: unknown) => reason,
      );
      return error instanceof Refusal ? error.kind : `no refusal: ${String(error)}`;
    };
    const second = refusal(pace.yielding('owner', works.do('a2')));
    expect(await refusal(pace.yielding('owner', works.do('a3')))).to.equal('unavailable');
    expect(await second).to.equal('unavailable');
    works.end('a1');
    works.end('own');
    await Promise.all([first, own]);
    expect(works.begun).to.deep.equal(['own', 'a1']);
  });

  it('goes on after work that failed', async () => {
    const [pace, works] = [new Pace(LIMITS), new Works()];
    const own = pace.own('owner', works.do('own'));
    await pace.yielding('owner', () => Promise.reject(new Error('no'))).catch(() => undefined);
    const next = pace.yielding('owner', works.do('a1'));
    await works.until(2);
    works.end('a1');
    expect(await next).to.equal('a1');
    works.end('own');
    await own;
  });
});
