/** Chooses between a trend and a change: a series is described by whichever leaves the smaller unexplained part. */
import { mean } from 'simple-statistics';
import type { Steps } from '#src/shared/load/slices.ts';
import { type Detected, type Evidence, makeEvidence, roundToSix } from '../finding.ts';
import type { Shift } from '../methods/hodges-lehmann.ts';
import { isLowerBound, isUpperBound, type Sample, type Track } from '../track.ts';

/** A description of a whole series. */
export interface Fitted {
  /** The p-value under the null hypothesis that such a pattern doesn't exist. */
  readonly p: number;
  /** Sum of the squared differences between the values and the best description of this form. */
  readonly misfit: number;
  readonly describe: () => Steps<Detected>;
}

/**
 * An uncorrected test must give a p-value below this to be worth correcting: the correction for autocorrelation only raises p.
 */
export const WORTH_A_LOOK = 0.05;

/**
 * Returns by how much a value differs from the expected value. Returns 0 if the value is only known to be beyond a bound and
 * the expected value may be beyond that bound too.
 */
export function residual({ value, bound }: Sample, expected: number): number {
  if (isUpperBound(bound) && expected <= value) return 0;
  if (isLowerBound(bound) && expected >= value) return 0;
  return value - expected;
}

/** Returns the sum of the squared differences between values and their mean. */
export function scatter(values: number[]): number {
  const middle = mean(values);
  return values.reduce((sum, value) => sum + (value - middle) ** 2, 0);
}

/** Returns the times of the first and last values in the given samples, as written in the resources. */
export function timeWindow(track: Track, samples: readonly Sample[]): { from: string; to: string } {
  const first = track.points[samples[0]?.first ?? 0];
  const last = track.points[(samples.at(-1)?.end ?? 1) - 1];
  return { from: first?.date ?? '', to: last?.date ?? '' };
}

/**
 * Returns a shift in a series as an effect.
 * @param since the date of the shift, as written in the resource
 */
export function effectOfShift(
  { estimate, low, high }: Shift,
  { unit }: Track,
  since: string,
): Detected['effect'] {
  return { value: roundToSix(estimate), unit, low: roundToSix(low), high: roundToSix(high), since };
}

/**
 * Returns the samples' points as evidence.
 * @param supports whether each sample supports the finding
 */
export function* evidenceOfSamples(
  { points, unit }: Track,
  samples: readonly Sample[],
  supports: readonly boolean[],
): Generator<Evidence, void> {
  for (const [k, { first, end }] of samples.entries())
    for (const point of points.slice(first, end)) yield makeEvidence(point, unit, supports[k] ?? true);
}

/** Returns, for each sample in two consecutive groups, whether it is on its own group's side of a midpoint. */
export function isBeyond(
  samples: readonly Sample[],
  count: number,
  middle: number,
  isUp: boolean,
): boolean[] {
  return samples.map(({ value }, k) => (k < count === isUp ? value <= middle : value >= middle));
}
