/** Checks whether a point in time is within a Period: https://hl7.org/fhir/R4/datatypes.html#Period */
import { isObject } from '#src/shared/json/json.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { parsePeriod } from './search/period.ts';

/**
 * Returns whether a point in time is within a Period. Both ends are inclusive to their precision: an `end` of 2026-05 means
 * the end of May, UTC. A Period without a start or an end is open there; an end that can't be read isn't treated as open.
 * @param period a valid Period; any other value is treated as a Period without ends.
 */
export function isDuring(period: unknown, moment: Micros): boolean {
  if (!isObject(period)) return true;
  const { start, end } = period;
  const begun = typeof start !== 'string' || (parsePeriod(start)?.from ?? Number.NaN) <= moment;
  return begun && (typeof end !== 'string' || moment < (parsePeriod(end)?.to ?? Number.NaN));
}
