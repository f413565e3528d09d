/** Compares the values in two periods. Pure. */
import type { Steps } from '#src/shared/load/slices.ts';
import { LEAST } from './detect/levels.ts';
import { roundToSix } from './finding.ts';
import { autocorrelation, inflationOfMean } from './methods/autocorrelation.ts';
import { hodgesLehmann } from './methods/hodges-lehmann.ts';
import { mannWhitney } from './methods/mann-whitney.ts';
import { findMedian } from './methods/select.ts';
import { MOST_SAMPLES, mediansOfDays, type Point, type Track } from './track.ts';

/** Minimum number of values that each period needs. */
export const LEAST_OF_PERIOD = 5;

/** The method's name. */
export const COMPARE_METHOD =
  'Mann–Whitney (two-sided; asymptotic, continuity and ties corrected, variance inflated by autocorrelation; with fewer than 8 values in a period as of independent values, exact below 50 values a period without ties) with Hodges–Lehmann shift';

/** A summary of the values in a period. */
export interface Summary {
  readonly count: number;
  readonly median: number | null;
  readonly min: number | null;
  readonly max: number | null;
}

/** How the values of the second period differ from those of the first. */
export interface Difference {
  /** Hodges–Lehmann shift in the track's unit. */
  readonly absolute: number;
  /** As a percentage of the first period's median; null if that median is 0. */
  readonly percent: number | null;
  readonly p_value: number;
  /** Ends of the 95 % interval around `absolute`. */
  readonly low: number;
  readonly high: number;
}

export interface Comparison {
  readonly a: Summary;
  readonly b: Summary;
  readonly difference: Difference | null;
  readonly sufficient: boolean;
  /** The reason why no difference is given; null if one is. */
  readonly reason: string | null;
}

/**
 * Compares two periods in a track, in steps. If either period has more than 2,000 values, the daily medians of both are
 * compared: single values scatter more than medians and must not be compared with them.
 */
export function* comparePeriods(
  track: Track,
  isIn: { readonly a: (point: Point) => boolean; readonly b: (point: Point) => boolean },
): Steps<Comparison> {
  const [a, b] = [track.points.filter(isIn.a), track.points.filter(isIn.b)];
  const [first, second] = [summarizePoints(a), summarizePoints(b)];
  const reason = insufficiency(a, b);
  if (reason !== null) return { a: first, b: second, difference: null, sufficient: false, reason };
  const isLong = Math.max(a.length, b.length) > MOST_SAMPLES;
  const readValues = function* (points: readonly Point[]): Steps<number[]> {
    return (isLong ? yield* mediansOfDays(points) : points).map(({ value }) => value);
  };
  const [x, y] = [yield* readValues(a), yield* readValues(b)];
  const tooFewDays = isLong ? shortage(x.length, y.length, 'day') : null;
  if (tooFewDays !== null)
    return { a: first, b: second, difference: null, sufficient: false, reason: tooFewDays };
  const inflation = measureInflation(x, y);
  const { p } = mannWhitney(x, y, inflation);
  const shift = yield* hodgesLehmann(x, y, 0.95, inflation);
  const median = first.median ?? 0;
  return {
    a: first,
    b: second,
    difference: {
      absolute: roundToSix(shift.estimate),
      percent: median === 0 ? null : roundToSix((shift.estimate / Math.abs(median)) * 100),
      p_value: p,
      low: roundToSix(shift.low),
      high: roundToSix(shift.high),
    },
    sufficient: true,
    reason: null,
  };
}

/** Returns why two periods can't be compared; null if they can. */
function insufficiency(a: readonly Point[], b: readonly Point[]): string | null {
  const tooFew = shortage(a.length, b.length, 'value');
  if (tooFew !== null) return tooFew;
  const all = [...a, ...b];
  if (all.filter(({ bound }) => bound !== null).length > all.length / 2)
    return 'more than half of the values are only known to be below or above a limit';
  const [first] = all;
  return all.every(({ value }) => value === first?.value) ? 'all values are equal' : null;
}

/**
 * Returns a sentence that names the period with too few values (or with values on too few days, if daily medians are
 * compared); null if both have enough.
 */
function shortage(a: number, b: number, what: 'value' | 'day'): string | null {
  for (const [name, count] of [
    ['a', a],
    ['b', b],
  ] as const)
    if (count < LEAST_OF_PERIOD)
      return `period ${name} has ${what === 'day' ? 'values on ' : ''}${count} ${what}${count === 1 ? '' : 's'}; at least ${LEAST_OF_PERIOD} are needed${what === 'day' ? ', because long periods are compared by the medians of their days' : ''}`;
  return null;
}

/**
 * Returns by how much autocorrelation inflates the variance of U. As in findings, the autocorrelation is computed from the
 * deviations from each period's median. Returns 1 if a period has fewer values than findings require for this test.
 */
function measureInflation(x: readonly number[], y: readonly number[]): number {
  if (Math.min(x.length, y.length) < LEAST.start) return 1;
  const residuals = [x, y].flatMap((values) => {
    const median = findMedian(values);
    return values.map((value) => value - median);
  });
  return inflationOfMean(autocorrelation(residuals));
}

function summarizePoints(points: readonly Point[]): Summary {
  const values = points.map(({ value }) => value);
  if (values.length === 0) return { count: 0, median: null, min: null, max: null };
  return {
    count: values.length,
    median: findMedian(values),
    min: values.reduce((least, value) => Math.min(least, value)),
    max: values.reduce((most, value) => Math.max(most, value)),
  };
}
