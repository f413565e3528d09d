/**
 * Finds the places in lists on certain days (docs/spec/decisions.md, section 4 "The day of a value"). Places are ordered by
 * time, but a value's day is the day as written. Therefore a scan reads all times that could be on these days, and compares
 * each place's day.
 */

import { searchKey } from '#src/fhir/search/keys.ts';
import { startOfDay } from '#src/shared/time/day.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { vaguePart } from '#src/v1/lists.ts';

/** A range of days, as numbers of days since 1970; if one end is missing, the range has no limit on that side. */
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
  /** The range of times to read, [low, high). */
  readonly low: Micros;
  readonly high: Micros;
  /** Bounds of `day`. */
  readonly first: number;
  readonly last: number;
}

/** Later than any FHIR date, and exact as a JavaScript number. */
const EVER = 2 ** 60;
/** More days than until any FHIR date: the greatest value of an `int`. */
const ALWAYS = 2 ** 31 - 1;

const HOUR = 3_600_000_000;
/** The maximum by which an offset in R4 shifts a time, rounded up. */
const OFFSET = 15 * HOUR;
/** The number of days that the longest date covers, a leap year. */
const LONGEST = 366;

/** Returns the start of a day in UTC, in microseconds. */
function dayStart(day: number): Micros {
  return startOfDay(day) * 1000;
}

/** The range of times in a range of days, [low, high). */
interface Moments {
  readonly low: Micros;
  readonly high: Micros;
}

/** Returns the times that are on the given days for at least one offset, and the times that are on them for every offset. */
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
 * Returns the scans that find the lists' entries on the given days: first one scan per list, in the same order, then one scan
 * per list for dates with only a month or a year, because such a date may begin before the range. The place of such a date has
 * the date's last day.
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
