/** Days of a query (`from`, `to`, both included) as moments. Without an offset: UTC. */
import { parsePeriod } from '#src/fhir/search/period.ts';
import type { Micros } from '#src/shared/time.ts';

/** Moments [from, to) of days `YYYY-MM-DD` that there are. */
export function daysOf(
  from: string | undefined,
  to: string | undefined,
): { readonly from?: Micros | undefined; readonly to?: Micros | undefined } {
  return {
    from: from === undefined ? undefined : parsePeriod(from)?.from,
    to: to === undefined ? undefined : parsePeriod(to)?.to,
  };
}
