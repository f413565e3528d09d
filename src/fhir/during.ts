/** Tells whether a moment lies in a Period: https://hl7.org/fhir/R4/datatypes.html#Period */
import { isObject } from '#src/shared/json/json.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { parsePeriod } from './search/period.ts';

/**
 * Returns whether a moment lies in a Period. Both ends are inclusive to their precision: an `end` of 2026-05 is the end
 * of May, UTC. An absent end is open; an unreadable one is not.
 * @param period a valid Period, or any other value, which counts as a Period without ends.
 */
export function isDuring(period: unknown, moment: Micros): boolean {
  if (!isObject(period)) return true;
  const { start, end } = period;
  const begun = typeof start !== 'string' || (parsePeriod(start)?.from ?? Number.NaN) <= moment;
  return begun && (typeof end !== 'string' || moment < (parsePeriod(end)?.to ?? Number.NaN));
}
