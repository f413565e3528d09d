/**
 * The service in one process, without PostgreSQL and sockets, with faults determined by a seed. Everything acknowledged is
 * written once, reads show it, and everything can be derived from the log again (docs/decisions/0035-a-simulation.md).
 * `ANNAL_TEST_SEED=<seed> npm test -- simulation/` repeats one seed.
 */
import { expect } from 'chai';
import { scaled, steadySeed } from '#test/support/scale.ts';
import { counted, tell } from '#test/support/tell.ts';
import { type Simulated, simulate } from './simulate.ts';
import { inVirtualTime } from './virtual-time.ts';
import type { Flaws } from './weather.ts';

const SEEDS = (process.env.ANNAL_TEST_SEED ?? '') === '' ? scaled(10_000, 200) : 1;
/** The number of seeds within which each deliberate fault must be found. */
const FINDING = 60;

describe('simulated instances', function () {
  this.timeout(60_000 + SEEDS * 1_000);

  it(`keep what they promise in ${SEEDS} runs`, async () => {
    const first = steadySeed();
    const outcomes = new Map<string, number>();
    let acknowledged = 0;
    const broken: string[] = [];
    await inVirtualTime(async () => {
      for (let seed = first; seed < first + SEEDS && broken.length < 5; seed += 1) {
        const run = await simulate(seed);
        acknowledged += run.acknowledged;
        for (const [outcome, times] of run.outcomes)
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + times);
        if (run.faults.length > 0)
          broken.push(`ANNAL_TEST_SEED=${seed}: ${run.faults.slice(0, 5).join('; ')}`);
      }
    });
    tell(`${SEEDS} seeds from ${first}, ${acknowledged} writes acknowledged; ${counted(outcomes)}`);
    expect(broken).to.deep.equal([]);
    if (SEEDS > 1)
      for (const outcome of [
        'create 201',
        'create 200',
        'create 503',
        'update 412',
        'transaction unanswered',
      ])
        expect(outcomes.get(outcome) ?? 0, outcome).to.be.greaterThan(0);
  });

  it('do the same again for the same seed', async () => {
    const seed = steadySeed();
    const runs: Simulated[] = [];
    await inVirtualTime(async () => {
      for (const each of [seed, seed + 1, seed]) runs.push(await simulate(each));
    });
    const [one, other, again] = runs.map(({ fingerprint }) => fingerprint);
    expect(again).to.equal(one);
    expect(other).to.not.equal(one);
  });

  const flaws: readonly (readonly [title: string, flaws: Flaws, found: RegExp])[] = [
    ['appends without a check of the expected revision', { ignoresExpected: true }, /revision \d+ follows/],
    ['an append that is acknowledged and not written', { losesEvery: 15 }, /was acknowledged, and is lost/],
    ['criteria that are not locked', { ignoresLocks: true }, /was created twice/],
    ['attempts that are not noted', { ignoresNotes: true }, /generated twice|appended twice|written 2 times/],
    ['answers before reads show the write', { answersEarly: true }, /was known before it began/],
    ['a read model that does not check its checkpoint', { ignoresCheckpoints: true }, /differ from a replay/],
  ];
  for (const [title, flaw, found] of flaws)
    it(`notice ${title}`, async () => {
      const faults: string[] = [];
      await inVirtualTime(async () => {
        for (let seed = 1; seed <= FINDING && !faults.some((fault) => found.test(fault)); seed += 1)
          faults.push(...(await simulate(seed, flaw)).faults);
      });
      expect(faults.filter((fault) => found.test(fault))).to.not.deep.equal([]);
    });
});
