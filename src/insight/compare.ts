/** Compares the values of two periods. Pure. */
import type { Steps } from '#src/shared/slices.ts';
import { shown } from './finding.ts';
import { hodgesLehmann } from './methods/hodges-lehmann.ts';
import { mannWhitney } from './methods/mann-whitney.ts';
import { medianOf } from './methods/select.ts';
import { MOST_SAMPLES, type Point, samplesOf, type Track } from './track.ts';

/** Fewest values of a period. */
export const LEAST_OF_PERIOD = 5;

/** The method's name. */
export const COMPARE_METHOD =
  'Mann–Whitney (two-sided; exact below 50 values a period without ties, else asymptotic, continuity and ties corrected) with Hodges–Lehmann shift';

/** The values of a period. */
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
  /** Of the first period's median; null where that is 0. */
  readonly percent: number | null;
  readonly p_value: number;
  /** Ends of the 95 % interval of `absolute`. */
  readonly low: number;
  readonly high: number;
}

/** A comparison. */
export interface Comparison {
  readonly a: Summary;
  readonly b: Summary;
  readonly difference: Difference | null;
  readonly sufficient: boolean;
  /** Why it says no difference. */
  readonly reason: string | null;
}

/** Compares two periods of a track, in steps. Of more than 2,000 values the medians of days are compared. */
export function* comparePeriods(
  track: Track,
  isIn: { readonly a: (point: Point) => boolean; readonly b: (point: Point) => boolean },
): Steps<Comparison> {
  const [a, b] = [track.points.filter(isIn.a), track.points.filter(isIn.b)];
  const [first, second] = [summaryOf(a), summaryOf(b)];
  const reason = insufficiency(a, b);
  if (reason !== null) return { a: first, b: second, difference: null, sufficient: false, reason };
  const isLong = Math.max(a.length, b.length) > MOST_SAMPLES;
  const valuesOf = (points: readonly Point[]): number[] =>
    (isLong ? samplesOf(points) : points).map(({ value }) => value);
  const [x, y] = [valuesOf(a), valuesOf(b)];
  const { p } = mannWhitney(x, y);
  const shift = yield* hodgesLehmann(x, y);
  const median = first.median ?? 0;
  return {
    a: first,
    b: second,
    difference: {
      absolute: shown(shift.estimate),
      percent: median === 0 ? null : shown((shift.estimate / Math.abs(median)) * 100),
      p_value: p,
      low: shown(shift.low),
      high: shown(shift.high),
    },
    sufficient: true,
    reason: null,
  };
}

/** Returns why two periods can't be compared; null if they can. */
function insufficiency(a: readonly Point[], b: readonly Point[]): string | null {
  for (const [name, { length }] of [
    ['a', a],
    ['b', b],
  ] as const)
    if (length < LEAST_OF_PERIOD)
      return `period ${name} has ${length} value${length === 1 ? '' : 's'}; at least ${LEAST_OF_PERIOD} are needed`;
  const all = [...a, ...b];
  if (all.filter(({ bound }) => bound !== null).length > all.length / 2)
    return 'more than half of the values are only known to be below or above a limit';
  const [first] = all;
  return all.every(({ value }) => value === first?.value) ? 'all values are equal' : null;
}

function summaryOf(points: readonly Point[]): Summary {
  const values = points.map(({ value }) => value);
  if (values.length === 0) return { count: 0, median: null, min: null, max: null };
  return {
    count: values.length,
    median: medianOf(values),
    min: values.reduce((least, value) => Math.min(least, value)),
    max: values.reduce((most, value) => Math.max(most, value)),
  };
}
