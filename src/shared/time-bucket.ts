/** Stretches of time of about 25 days, by which the read model `timeline` counts. */
import type { Micros } from './time.ts';

/** Microseconds of a stretch: a power of two, so that the division is exact. */
const LENGTH = 2 ** 41;

/** The number of the stretch that a moment is in. */
export function bucketOf(at: Micros): number {
  return Math.floor(at / LENGTH);
}

/** The first moment of a stretch. */
export function bucketStart(stretch: number): Micros {
  return stretch * LENGTH;
}
