/** Whether a moment lies in a Period: https://hl7.org/fhir/R4/datatypes.html#Period */
import { isObject } from '#src/shared/json.ts';
import type { Micros } from '#src/shared/time.ts';
import { parsePeriod } from './search/period.ts';

/**
 * Both ends count, each as long as its precision: an `end` of 2026-05 is the end of May, UTC. An end that is absent is
 * open; one that cannot be read is not.
 * @param period a valid Period, or anything else, which has no ends.
 */
export function isDuring(period: unknown, moment: Micros): boolean {
  if (!isObject(period)) return true;
  const { start, end } = period;
  const begun = typeof start !== 'string' || (parsePeriod(start)?.from ?? Number.NaN) <= moment;
  return begun && (typeof end !== 'string' || moment < (parsePeriod(end)?.to ?? Number.NaN));
}
