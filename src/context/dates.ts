/** Calculates the days between times. */

/** A day in milliseconds. */
export const DAY = 86_400_000;

/** Returns the days between two times, given in milliseconds since 1970. */
export function daysBetween(from: number, to: number): number {
  return (to - from) / DAY;
}
