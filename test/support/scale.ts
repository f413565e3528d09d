/** Sets the size of big tests: `npm test` runs part of each test, and `npm run prove` all of it. */

const isFullSize = Number(process.env.ANNAL_TEST_SCALE ?? '') > 0;

/**
 * Returns a test's size; ANNAL_TEST_SCALE (1 is full size) overrides the default.
 * @param full the full size
 * @param part the default size
 */
export function scaled(full: number, part: number): number {
  const scale = Number(process.env.ANNAL_TEST_SCALE ?? '');
  return scale > 0 ? Math.max(1, Math.round(full * scale)) : part;
}

/**
 * Returns the first few of several cases, or all of them in `npm run prove`.
 * @param part how many cases to return
 */
export function someOf<T>(all: readonly T[], part: number): readonly T[] {
  return all.slice(0, scaled(all.length, part));
}

/**
 * Returns every nth of several cases, or all of them in `npm run prove`.
 * @param from shifts the selection, so that calls with different numbers select different cases
 */
export function everyNth<T>(all: readonly T[], nth: number, from = 0): readonly T[] {
  return all.filter((_, index) => isFullSize || (index + from) % nth === 0);
}

/** Returns the seed for random tests: ANNAL_TEST_SEED, or otherwise a new seed each time. Failure messages contain the seed. */
export function randomSeed(): number {
  const given = Number(process.env.ANNAL_TEST_SEED ?? '');
  return Number.isInteger(given) && given > 0 ? given : Math.ceil(Math.random() * 2 ** 31);
}

/**
 * Returns the seed for a random test that must not fail by chance: ANNAL_TEST_SEED, or otherwise always the same seed. If
 * ANNAL_TEST_SCALE is set, as in `npm run prove`, the default is a new seed each time.
 */
export function steadySeed(): number {
  const isChosen = (process.env.ANNAL_TEST_SEED ?? '') !== '' || (process.env.ANNAL_TEST_SCALE ?? '') !== '';
  return isChosen ? randomSeed() : 20_261_126;
}

/**
 * Defines a test that only `npm run prove` runs, because it takes long: many starts or kills of a service, time limits, or a
 * browser.
 */
export function itAtFullSize(
  title: string,
  test: (this: Mocha.Context) => Promise<void> | void,
): Pick<Mocha.Test, 'timeout'> | undefined {
  return isFullSize ? it(title, test) : undefined;
}

/** Defines a suite that only `npm run prove` runs. */
export function describeAtFullSize(title: string, suite: (this: Mocha.Suite) => void): void {
  if (isFullSize) describe(title, suite);
}
