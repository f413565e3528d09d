/**
 * Counts the requests sent by a file's tests, and the requests sent again because read models lagged. A service whose read
 * models always lag must not pass. Mocha loads this file before the tests (.mocharc.json).
 */
import { availableParallelism, loadavg } from 'node:os';

/** Retries allowed per thousand requests that were begun. */
const ALLOWED = 3;

/** The counts since the process started. */
export const retries = { requests: 0, again: 0 };

/** Returns whether there were so many retries that read models must have lagged without a load that explains it. */
export const tooManyRetries = ({ requests, again }: typeof retries): boolean =>
  again > ALLOWED * Math.max(1, Math.ceil(requests / 1_000));

let before = { ...retries };

/** In parallel runs, mocha calls these for each file. */
export const mochaHooks = {
  beforeAll(): void {
    before = { ...retries };
  },
  afterAll(this: Mocha.Context): void {
    const counted = { requests: retries.requests - before.requests, again: retries.again - before.again };
    if (!tooManyRetries(counted)) return;
    const found = `${counted.again} of ${counted.requests} requests were sent again because read models lagged`;
    const [load = 0] = loadavg();
    const files = this.test?.parent?.suites.map(({ file = '' }) => file) ?? [];
    // A killed service has to catch up first.
    const isKilled = files.some((file) => file.includes('/faults/'));
    if (load <= availableParallelism() && !isKilled) throw new Error(found);
    console.log(`    ${found}; load ${load.toFixed(1)}`);
  },
};
