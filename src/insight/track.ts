/** Defines tracks: the numeric values for one code or group of codes in one unit, in chronological order. Pure. */

import type { AuthorType } from '#src/shared/access/author.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import { dayAt, saysSame, startOfDay } from '#src/shared/time/day.ts';
import { findMedian } from './methods/select.ts';

/** A code and its system. */
export interface Coded {
  readonly system: string;
  readonly code: string;
}

/** The resource version that states a value. */
export interface Source {
  /** `Observation/<id>` or `MedicationStatement/<id>`. */
  readonly fhir: string;
  readonly version: number;
  readonly authorType: AuthorType;
}

/** Comparators of values that are only known to be below or above a number. */
export const BOUNDS = ['<', '<=', '>=', '>'] as const;

export type Bound = (typeof BOUNDS)[number];

/** Returns whether a value is only known to be below its number, or at most equal to it. */
export function isUpperBound(bound: Bound | null): boolean {
  return bound === '<' || bound === '<=';
}

/** Returns whether a value is only known to be above its number, or at least equal to it. */
export function isLowerBound(bound: Bound | null): boolean {
  return bound === '>' || bound === '>=';
}

/** The literals of a value and its reference range, such as 5.0 (docs/decisions/0009-literals-are-kept.md). */
export type Digits = { readonly [K in 'value' | 'low' | 'high']?: string | undefined };

/** A value at a time. */
export interface Point {
  /** The date as written in the resource. */
  readonly date: string;
  /** Milliseconds since 1970. */
  readonly at: number;
  /** Minutes east of UTC, as written in the time itself. */
  readonly offset: number;
  readonly value: number;
  /** Set if the value is only known to be below or above the stated number. */
  readonly bound: Bound | null;
  /** The reference range in the track's unit. */
  readonly low: number | null;
  readonly high: number | null;
  /** The literals of the numbers that JavaScript would print differently; undefined if there are none. */
  readonly digits?: Digits | undefined;
  readonly source: Source;
}

export interface Track {
  /** The codes; the first one names the track. */
  readonly codes: readonly Coded[];
  /** UCUM; null for numbers without a unit. */
  readonly unit: string | null;
  /** In order (`inOrder`). */
  readonly points: readonly Point[];
}

/** A value as the methods use it: a point, or the median of a day. */
export interface Sample {
  /** Days since 1970, in UTC. */
  readonly time: number;
  readonly value: number;
  /** A point's bound; null for the median of a day. */
  readonly bound: Point['bound'];
  /** The sample's points are those from `first` up to, but not including, `end`. */
  readonly first: number;
  readonly end: number;
}

/** Milliseconds in a day. */
export const DAY = startOfDay(1);

/** A track with more points than this is reduced to daily medians; at most this many medians, the newest, are used. */
export const MOST_SAMPLES = 2_000;

/**
 * Sorts points by time. Points with equal times are sorted by value, so that the order in which the values arrived makes no
 * difference.
 */
export function inOrder(points: readonly Point[]): Point[] {
  return points.toSorted(
    (a, b) => a.at - b.at || a.value - b.value || (a.source.fhir < b.source.fhir ? -1 : 1),
  );
}

/** Returns whether two points state the same value for the same time; nothing then shows that they are two measurements. */
function isCopy(one: Point, other: Point): boolean {
  return (
    one.at === other.at &&
    one.value === other.value &&
    one.bound === other.bound &&
    saysSame(one.date, other.date)
  );
}

/**
 * Returns the points without those that only repeat the previous point.
 * @param points in order
 */
export function withoutCopies(points: readonly Point[]): Point[] {
  return points.filter((point, n) => {
    const before = points[n - 1];
    return before === undefined || !isCopy(before, point);
  });
}

/**
 * Returns how many points in a track have the same time as another point but a different value; nothing shows which value is
 * right.
 */
export function countSameTime({ points }: Pick<Track, 'points'>): number {
  let count = 0;
  for (let first = 0; first < points.length; ) {
    const { at, date, value } = points[first] ?? NO_POINT;
    let end = first + 1;
    let differs = false;
    for (; points[end]?.at === at && saysSame(points[end]?.date ?? '', date); end += 1)
      differs ||= points[end]?.value !== value;
    if (differs) count += end - first;
    first = end;
  }
  return count;
}

const NO_POINT: Pick<Point, 'at' | 'date' | 'value'> = { at: Number.NaN, date: '', value: Number.NaN };

/** Returns a point's day, by the point's own UTC offset, as days since 1970. */
export function localDay({ at, offset }: Pick<Point, 'at' | 'offset'>): number {
  return dayAt(at + offset * 60_000);
}

/**
 * Returns a track's samples, in steps: the points themselves, or daily medians if there are more than `MOST_SAMPLES` points.
 */
export function* makeSamples(points: readonly Point[]): Steps<Sample[]> {
  if (points.length <= MOST_SAMPLES)
    return points.map(({ at, value, bound }, n) => ({
      ...{ time: at / DAY, value, bound },
      ...{ first: n, end: n + 1 },
    }));
  return yield* mediansOfDays(points);
}

/** Returns the newest `MOST_SAMPLES` daily medians of a track's points, in steps. */
export function* mediansOfDays(points: readonly Point[]): Steps<Sample[]> {
  const days: Sample[] = [];
  for (let first = 0; first < points.length; ) {
    const day = findDay(points, first);
    let end = first + 1;
    while (end < points.length && findDay(points, end) === day) end += 1;
    const of = points.slice(first, end);
    days.push({
      time: findMedian(of.map(({ at }) => at)) / DAY,
      value: findMedian(of.map(({ value }) => value)),
      bound: null,
      first,
      end,
    });
    first = end;
    yield;
  }
  return days.slice(-MOST_SAMPLES);
}

function findDay(points: readonly Point[], n: number): number {
  const point = points[n];
  return point === undefined ? Number.NaN : localDay(point);
}
