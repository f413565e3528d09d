/** Buckets of about 25 days, by which the read model `timeline` counts entries. */
import type { Micros } from './time.ts';

/** Length of a bucket in microseconds: a power of two, so that the division is exact. */
const LENGTH = 2 ** 41;

/** Returns the number of the bucket that contains a time. */
export function bucketNumber(at: Micros): number {
  return Math.floor(at / LENGTH);
}

/** Returns the beginning of a bucket. */
export function bucketStart(stretch: number): Micros {
  return stretch * LENGTH;
}
