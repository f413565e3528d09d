/** Days of a query (`from`, `to`, both included) as moments. Without an offset: UTC. */
import type { z } from 'zod';
import { parsePeriod } from '#src/fhir/search/period.ts';
import type { Micros } from '#src/shared/time.ts';

/** Days `YYYY-MM-DD`, which are ordered as texts. */
interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Refuses a last day before the first one. */
export function daysInOrder({ from, to }: Days, context: z.RefinementCtx): void {
  if (from === undefined || to === undefined || from <= to) return;
  context.addIssue({ code: 'custom', path: ['from'], message: `must not be after to, ${to}` });
  context.addIssue({ code: 'custom', path: ['to'], message: `must not be before from, ${from}` });
}

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
