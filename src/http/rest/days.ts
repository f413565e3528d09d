/** Days of a query (`from`, `to`, both included): as days that values are written for, or as moments in UTC. */
import type { z } from 'zod';
import type { DayRange } from '#queries/day-scans.ts';
import { parsePeriod } from '#src/fhir/search/period.ts';
import { readDays } from '#src/shared/time/day.ts';
import type { Micros } from '#src/shared/time/time.ts';

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

/** Returns the days that values are asked for, for days `YYYY-MM-DD`. */
export function dayRange({ from, to }: Days): DayRange {
  return {
    from: from === undefined ? undefined : readDays(from).first,
    to: to === undefined ? undefined : readDays(to).last,
  };
}

/** Returns the moments [from, to) in UTC of days `YYYY-MM-DD`. */
export function parseMoments(
  from: string | undefined,
  to: string | undefined,
): { readonly from?: Micros | undefined; readonly to?: Micros | undefined } {
  return {
    from: from === undefined ? undefined : parsePeriod(from)?.from,
    to: to === undefined ? undefined : parsePeriod(to)?.to,
  };
}
