/**
 * Finds the days that a FHIR date or date-time stands for (docs/spec/decisions.md, section 4 "The day of a value"): the days
 * named in its text, regardless of its offset. Pure.
 */
const DAY_MS = 86_400_000;
/** Length of a date that names a month, and of a date that names a day, in characters. */
const [MONTH, DAY] = [7, 10];

/** The first and the last day, both inclusive, as numbers of days since 1970-01-01. */
export interface Days {
  readonly first: number;
  readonly last: number;
}

/**
 * Returns the days that a valid FHIR date or date-time stands for: `2026-05-01T00:30+02:00` is 1 May, `2026` is a whole year.
 */
export function readDays(date: string): Days {
  if (date.length >= DAY) {
    const day = dayNumber(date.slice(0, DAY));
    return { first: day, last: day };
  }
  const year = date.slice(0, 4);
  if (date.length < MONTH) return { first: dayNumber(`${year}-01-01`), last: dayNumber(`${year}-12-31`) };
  const month = Number(date.slice(5, MONTH));
  const following = `${year}-${String(month + 1).padStart(2, '0')}-01`;
  const last = month === 12 ? dayNumber(`${year}-12-31`) : dayNumber(following) - 1;
  return { first: dayNumber(`${date.slice(0, MONTH)}-01`), last };
}

/** Returns whether a FHIR date names only a month or a year, not a day. */
export function isVague(date: string): boolean {
  return date.length < DAY;
}

/** Returns the day of a FHIR date or date-time as written. A date that names no day keeps its precision: `2026-03`. */
export function dayIn(date: string): string {
  return date.slice(0, DAY);
}

/** Returns whether two FHIR dates mean the same: the same instant, or the same day, month or year. */
export function saysSame(one: string, other: string): boolean {
  const isMoment = one.length > DAY && other.length > DAY;
  return one === other || (isMoment && Date.parse(one) === Date.parse(other));
}

/** Returns the time and offset of a FHIR date-time, as `09:30+02:00` or `09:30Z`; undefined if it has no time. */
export function timeIn(date: string): string | undefined {
  const [, time, offset] = /T(\d\d:\d\d)[^Z+-]*(Z|[+-]\d\d:\d\d)?$/.exec(date) ?? [];
  return time === undefined ? undefined : `${time}${offset ?? ''}`;
}

/**
 * Returns the number of the UTC day that contains an instant.
 * @param at milliseconds since 1970
 */
export function dayAt(at: number): number {
  return Math.floor(at / DAY_MS);
}

/** Returns the beginning of a day in UTC, in milliseconds since 1970. */
export function startOfDay(day: number): number {
  return day * DAY_MS;
}

function dayNumber(day: string): number {
  return dayAt(Date.parse(`${day}T00:00:00Z`));
}
