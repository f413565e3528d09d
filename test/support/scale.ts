/** How much of a big test runs: `npm test` takes a part of it, `npm run prove` all. */

/**
 * @param full the size that proves it.
 * @param part the size by default.
 * ANNAL_TEST_SCALE (1 is full size) decides otherwise.
 */
export function scaled(full: number, part: number): number {
  const scale = Number(process.env.ANNAL_TEST_SCALE ?? '');
  return scale > 0 ? Math.max(1, Math.round(full * scale)) : part;
}

/** Returns the seed of random tests: ANNAL_TEST_SEED, else another one each time; failures name it. */
export function randomSeed(): number {
  const given = Number(process.env.ANNAL_TEST_SEED ?? '');
  return Number.isInteger(given) && given > 0 ? given : Math.ceil(Math.random() * 2 ** 31);
}
