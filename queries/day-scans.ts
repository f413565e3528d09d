/**
 * Finds the places of lists on some days (docs/spec/decisions.md, section 4 "The day of a value"). Places are ordered by
 * moment, and a value's day is the one that it is written for: a scan takes the moments that can be on these days, and
 * compares the day of each place.
 */

import { searchKey } from '#src/fhir/search/keys.ts';
import { startOfDay } from '#src/shared/time/day.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { vaguePart } from '#src/v1/lists.ts';

/** Days from the first to the last, as numbers of days since 1970; absent: without that bound. */
export interface DayRange {
  readonly from?: number | undefined;
  readonly to?: number | undefined;
}

/** A scan of one list. */
export interface DayScan {
  /** Index of the list among those that were asked for. */
  readonly index: number;
  /** The list's key (`searchKey`). */
  readonly list: string;
  /** Moments [low, high). */
  readonly low: Micros;
  readonly high: Micros;
  /** Bounds of `day`. */
  readonly first: number;
  readonly last: number;
}

/** Later than any FHIR date, and exact as a JavaScript number. */
const EVER = 2 ** 60;
/** More days than there are until any FHIR date: the greatest `int`. */
const ALWAYS = 2 ** 31 - 1;

const HOUR = 3_600_000_000;
/** The maximum by which an offset of R4 moves a time, rounded up. */
const OFFSET = 15 * HOUR;
/** Days of the longest date, a leap year. */
const LONGEST = 366;

/** Returns the first moment of a day in UTC, in microseconds. */
function dayStart(day: number): Micros {
  return startOfDay(day) * 1000;
}

/** The moments of some days, [low, high). */
interface Moments {
  readonly low: Micros;
  readonly high: Micros;
}

/** Returns the moments that can be on some days by an offset, and those that are on them by every offset. */
export function rangeMoments({ from, to }: DayRange): Moments & { readonly surely: Moments } {
  const low = from === undefined ? undefined : dayStart(from);
  const high = to === undefined ? undefined : dayStart(to + 1);
  return {
    low: low === undefined ? -EVER : low - OFFSET,
    high: high === undefined ? EVER : high + OFFSET,
    surely: {
      low: low === undefined ? -EVER : low + OFFSET,
      high: high === undefined ? EVER : high - OFFSET,
    },
  };
}

/**
 * Returns the scans that find the entries of lists on some days: one for each list, in their order, then those of their
 * parts for dates by month or year, where these may begin earlier. The places of such a part have the last of a date's
 * days.
 */
export function planScans(lists: readonly string[], range: DayRange): DayScan[] {
  const { from, to } = range;
  const { low, high } = rangeMoments(range);
  const [first, last] = [from ?? -ALWAYS, to ?? ALWAYS];
  const own = lists.map((list, index) => ({ index, list: searchKey(list), low, high, first, last }));
  if (from === undefined) return own;
  const before = { low: dayStart(from - LONGEST), high: dayStart(from), first, last: ALWAYS };
  return [...own, ...lists.map((list, index) => ({ index, list: searchKey(vaguePart(list)), ...before }))];
}
