import { expect } from 'chai';
import { decideLabs } from '#src/labs/decide.ts';
import { Notes } from '#src/labs/labs.ts';
import { labsOfMessage } from '#src/labs/message.ts';
import { atOnce, inSlices, mapSteps, type Steps } from '#src/shared/slices.ts';
import { GLUCOSE, PATIENT, results } from '#test/support/labs/parts.ts';

/** Keeps the event loop for a while. @param ms of this process's CPU */
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
