import { performance } from 'node:perf_hooks';
import { expect } from 'chai';
import { decideLabs } from '#src/labs/decide.ts';
import { Notes } from '#src/labs/labs.ts';
import { labsOfMessage } from '#src/labs/message.ts';
import { atOnce, inSlices, mapSteps, Presence, presence, type Steps } from '#src/shared/load/slices.ts';
import { GLUCOSE, PATIENT, results } from '#test/support/labs/parts.ts';

/**
 * Blocks the event loop for a while.
 * @param ms of this process's CPU time
 */
function busy(ms: number): void {
  const from = process.cpuUsage();
  for (let used = 0; used < ms * 1000; ) {
    const { user, system } = process.cpuUsage(from);
    used = user + system;
  }
}

describe('work in slices', () => {
  it('is what it would be at once', async () => {
    const double = () => mapSteps([1, 2, 3], (one, at) => one * 2 + at);
    expect(atOnce(double())).to.deep.equal([2, 5, 8]);
    expect(await inSlices(double())).to.deep.equal([2, 5, 8]);
  });

  it('lets others have the event loop when a slice was long, and not after each step', async () => {
    let turns = 0;
    let done = false;
    const others = (): void => {
      turns += 1;
      if (!done) setImmediate(others);
    };
    setImmediate(others);
    await inSlices(mapSteps([...Array(5).keys()], () => busy(20)));
    expect(turns).to.be.at.least(4);
    turns = 0;
    await inSlices(mapSteps([...Array(1_000).keys()], () => 0));
    expect(turns).to.be.below(100);
    done = true;
  });

  it('fails as the work does, and ends there', async () => {
    let begun = 0;
    const failing = mapSteps([1, 2, 3], (one) => {
      begun += 1;
      if (one === 2) throw new RangeError('two');
    });
    const error = await inSlices(failing).catch((reason: unknown) => reason);
    expect(error).to.be.instanceOf(RangeError);
    expect(begun).to.equal(2);
  });

  it('of several works, each pass of the event loop has one, in turn', async () => {
    const slices: string[] = [];
    let passes = 0;
    const seen = new Map<number, number>();
    const work = (name: string): Promise<unknown> =>
      inSlices(
        mapSteps([...Array(4).keys()], () => {
          slices.push(name);
          seen.set(passes, (seen.get(passes) ?? 0) + 1);
          busy(12);
        }),
      );
    let done = false;
    const pass = (): void => {
      passes += 1;
      if (!done) setImmediate(pass);
    };
    setImmediate(pass);
    await Promise.all([work('a'), work('b'), work('c')]);
    done = true;
    expect(slices.slice(3).join('')).to.equal('abcabcabc');
    // The first slices of all tasks begin at once.
    seen.delete(0);
    expect(Math.max(...seen.values())).to.equal(1);
  });

  it('rests after a slice while others have requests under way', async () => {
    const work = (): Promise<unknown> => inSlices(mapSteps([1, 2, 3], () => busy(12)));
    const timed = async (): Promise<number> => {
      const { idle } = performance.eventLoopUtilization();
      await work();
      return performance.eventLoopUtilization().idle - idle;
    };
    for (const who of ['one', 'other']) presence.enter(who);
    try {
      expect(await timed()).to.be.at.least(30);
    } finally {
      for (const who of ['one', 'other']) presence.leave(who);
    }
  });
});

describe('presence', () => {
  it('is of several while two have requests under way, and a moment after', () => {
    let time = 0;
    const here = new Presence(() => time);
    expect(here.several).to.equal(false);
    here.enter('a');
    here.enter('a');
    expect(here.several).to.equal(false);
    here.enter('b');
    expect(here.several).to.equal(true);
    here.leave('b');
    time = 200;
    expect(here.several).to.equal(true);
    time = 300;
    expect(here.several).to.equal(false);
    here.leave('a');
    here.enter('b');
    time = 10_000;
    expect(here.several).to.equal(true);
    here.leave('a');
    time = 20_000;
    expect(here.several).to.equal(false);
  });
});

describe('a laboratory’s report', () => {
  const count = <T>(steps: Steps<T>): { steps: number; value: T } => {
    for (let taken = 0; ; taken += 1) {
      const { done, value } = steps.next();
      if (done === true) return { steps: taken, value };
    }
  };
  it('is read and decided on by a step for each result', () => {
    const message = results(
      ...Array.from({ length: 50 }, (_, at) => `OBX|${at}|NM|${GLUCOSE}|${at}|5|mmol/L|||||F`),
    );
    const read = count(labsOfMessage(message, { patient: PATIENT, subject: 'Patient/p', source: '' }));
    expect(read.steps).to.equal(50);
    expect(count(decideLabs(read.value.drafts, new Map(), new Notes())).steps).to.equal(51);
  });
});
