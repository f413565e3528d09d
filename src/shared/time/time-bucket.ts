/** Buckets of about 25 days, by which the read model `timeline` counts. */
import type { Micros } from './time.ts';

/** Microseconds of a bucket: a power of two, so that the division is exact. */
const LENGTH = 2 ** 41;

/** Returns the number of the bucket that contains a moment. */
export function bucketNumber(at: Micros): number {
  return Math.floor(at / LENGTH);
}

/** Returns the first moment of a bucket. */
export function bucketStart(stretch: number): Micros {
  return stretch * LENGTH;
}
