/** Represents days as whole numbers since 1970-01-01 (UTC), for the generator's arithmetic. */

export type Day = number;

/** A year of 365.25 days. */
export const YEAR = 365.25;

/**
 * Parses `YYYY-MM-DD` to a day.
 * @throws RangeError for any other format
 */
export function parseDay(text: string): Day {
  const day = Date.parse(`${text}T00:00:00Z`) / 86_400_000;
  if (!Number.isInteger(day)) throw new RangeError(`${text} is not a valid day`);
  return day;
}

/** Returns a day as `YYYY-MM-DD`. */
export function dateText(day: Day): string {
  return new Date(day * 86_400_000).toISOString().slice(0, 10);
}

/**
 * Returns a FHIR dateTime in UTC.
 * @param minutes since midnight
 */
export function timeText(day: Day, minutes: number): string {
  return `${new Date(day * 86_400_000 + minutes * 60_000).toISOString().slice(0, 19)}Z`;
}

/** Returns the age in years on the given day. */
export function ageOn(birth: Day, day: Day): number {
  return (day - birth) / YEAR;
}
