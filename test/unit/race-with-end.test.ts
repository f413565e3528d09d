/**
 * Work that is raced with an end: the outcome of the work, the outcome of the end, and that finished work leaves nothing
 * behind.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { raceWithEnd } from '#src/processes/race-with-end.ts';

const WORKS = 200_000;

/** Returns an end, and a function that triggers it. */
function ending(): { end: Promise<never>; come: () => void } {
  let come = (): void => undefined;
  const end = new Promise<never>((_, reject) => {
    come = () => reject(new Error('the end'));
  });
  end.catch(() => undefined);
  return { end, come };
}

const outcome = (work: Promise<unknown>): Promise<unknown> =>
  work.catch((error: unknown) => (error instanceof Error ? error.message : error));

describe('works until an end', () => {
  it('have their own outcome before it', async () => {
    const until = raceWithEnd(ending().end);
    expect(await until(Promise.resolve(7))).to.equal(7);
    expect(await outcome(until(Promise.reject(new Error('own'))))).to.equal('own');
  });

  it('end with it, those that began before and those that begin after', async () => {
    const { end, come } = ending();
    const until = raceWithEnd(end);
    const never = new Promise<never>(() => undefined);
    const both = [until(never), until(never)].map(outcome);
    come();
    expect(await Promise.all(both)).to.deep.equal(['the end', 'the end']);
    expect(await outcome(until(never))).to.equal('the end');
    // The work's own failure is handled, so that no rejection remains unhandled.
    expect(await outcome(until(Promise.reject(new Error('own'))))).to.equal('the end');
  });

  it('leave nothing behind when they are over', async () => {
    setFlagsFromString('--expose-gc');
    const collect: () => void = runInNewContext('gc');
    const until = raceWithEnd(ending().end);
    const works = async (count: number): Promise<number> => {
      for (let n = 0; n < count; n += 1) await until(Promise.resolve(n));
      collect();
      return process.memoryUsage().heapUsed;
    };
    const before = await works(1_000);
    // With `Promise.race`, each would leave about 300 bytes behind.
    expect((await works(WORKS)) - before).to.be.below(WORKS * 20);
  });
});
