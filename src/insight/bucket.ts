/** Computes the points shown for a series: each value, or the median of each day, week or month. Pure. */
import { linearRegression } from 'simple-statistics';
import type { Steps } from '#src/shared/load/slices.ts';
import { dayAt, startOfDay } from '#src/shared/time/day.ts';
import { roundToSix } from './finding.ts';
import { findMedian } from './methods/select.ts';
import { type Bound, DAY, localDay, type Point } from './track.ts';

/** Buckets (docs/spec/decisions.md, section 4 "Series"). */
export const BUCKETS = ['raw', 'day', 'week', 'month'] as const;

export type Bucket = (typeof BUCKETS)[number];

/** A point in a response. */
export interface ShownPoint {
  /** The date as written in the resource. For a bucket, its first day, in the offsets of the bucket's values. */
  readonly at: string;
  /** The value; for a bucket, the median of its values. */
  readonly value: number;
  readonly comparator: Bound | null;
  readonly n: number;
  /** The version that contains the value; for a bucket, the version that contains its newest value. */
  readonly fhir: string;
  readonly reference_range: { readonly low: number | null; readonly high: number | null } | null;
  /** All versions in a bucket. */
  readonly versions?: readonly string[];
}

/** Statistics on all values, regardless of the bucket. */
export interface Statistics {
  readonly count: number;
  readonly min: number | null;
  readonly max: number | null;
  readonly mean: number | null;
  /** Slope of the least-squares line, per day; null if there are fewer than two times. */
  readonly slope: number | null;
}

/** Returns a reference to the version that contains a point's value. */
export function versionReference({ source: { fhir, version } }: Point): string {
  return `${fhir}/_history/${version}`;
}

/** Number of points printed per step. One string for each point would take more memory than the points. */
const AT_A_TIME = 500;

/**
 * Prints the points in a response as JSON, in steps, separated by commas.
 * @param points in order
 */
export function* printedPoints(points: readonly Point[], bucket: Bucket): Steps<string> {
  if (bucket !== 'raw')
    return (yield* bucketPoints(points, bucket)).map((each) => JSON.stringify(each)).join();
  const texts: string[] = [];
  for (let from = 0; from < points.length; from += AT_A_TIME) {
    // `join` makes one flat string, whereas a concatenated string would keep all its parts in memory.
    texts.push(
      points
        .slice(from, from + AT_A_TIME)
        .map(printedPoint)
        .join(),
    );
    yield;
  }
  return texts.join();
}

/** Number of characters of a date that identify its day or month. */
const NAMES_BUCKET = { day: 10, week: 10, month: 7 } as const;

/** Returns whether a point's date determines its bucket. For example, `2026-03` determines neither a day nor a week. */
export function hasBucket({ date }: Pick<Point, 'date'>, bucket: Bucket): boolean {
  return bucket === 'raw' || date.length >= NAMES_BUCKET[bucket];
}

function* bucketPoints(points: readonly Point[], bucket: Exclude<Bucket, 'raw'>): Steps<ShownPoint[]> {
  const all: ShownPoint[] = [];
  const buckets = new Map<number, Point[]>();
  for (const point of points) {
    if (!hasBucket(point, bucket)) continue;
    const day = firstDay(localDay(point), bucket);
    const before = buckets.get(day);
    if (before === undefined) buckets.set(day, [point]);
    else before.push(point);
    yield;
  }
  for (const [day, of] of [...buckets].sort(([a], [b]) => a - b)) {
    all.push(bucketPoint(day, of));
    yield;
  }
  return all;
}

/** Prints a `ShownPoint` directly as text, which takes a third of the time needed to build and print an object. */
function printedPoint(point: Point): string {
  const { date, value, bound, low, high, digits } = point;
  const range =
    low === null && high === null ? 'null' : `{"low":${digits?.low ?? low},"high":${digits?.high ?? high}}`;
  const comparator = bound === null ? 'null' : `"${bound}"`;
  return `{"at":${JSON.stringify(date)},"value":${digits?.value ?? value},"comparator":${comparator},"n":1,"fhir":"${versionReference(point)}","reference_range":${range}}`;
}

function bucketPoint(day: number, points: readonly Point[]): ShownPoint {
  const newest = points.at(-1);
  const bounds = new Set(points.map(({ bound }) => bound));
  const [bound = null] = bounds;
  return {
    at: new Date(startOfDay(day)).toISOString().slice(0, 10),
    value: findMedian(points.map(({ value }) => value)),
    comparator: bounds.size === 1 ? bound : null,
    n: points.length,
    fhir: newest === undefined ? '' : versionReference(newest),
    reference_range: commonRange(points),
    versions: points.map(versionReference),
  };
}

/** Returns the reference range that all points share; null if they have none, or if they differ. */
function commonRange([first, ...others]: readonly Point[]): ShownPoint['reference_range'] {
  if (first === undefined) return null;
  const { low, high } = first;
  if (low === null && high === null) return null;
  return others.every((each) => each.low === low && each.high === high) ? { low, high } : null;
}

/** Returns the first day of a bucket, as days since 1970. Weeks begin on Mondays. */
function firstDay(day: number, bucket: Exclude<Bucket, 'raw'>): number {
  if (bucket === 'day') return day;
  // 1970-01-01 was a Thursday.
  if (bucket === 'week') return Math.floor((day + 3) / 7) * 7 - 3;
  const date = new Date(startOfDay(day));
  return dayAt(Date.UTC(date.getUTCFullYear(), date.getUTCMonth(), 1));
}

/** Returns the statistics of points. */
export function computeStatistics(points: readonly Point[]): Statistics {
  const [first] = points;
  if (first === undefined) return { count: 0, min: null, max: null, mean: null, slope: null };
  let [min, max, sum] = [first.value, first.value, 0];
  for (const { value } of points) {
    min = Math.min(min, value);
    max = Math.max(max, value);
    sum += value;
  }
  const isOneTime = points.at(-1)?.at === first.at;
  const line = isOneTime
    ? undefined
    : linearRegression(points.map(({ at, value }) => [(at - first.at) / DAY, value]));
  return {
    count: points.length,
    min,
    max,
    mean: roundToSix(sum / points.length),
    slope: line === undefined ? null : roundToSix(line.m),
  };
}
