/** Handles days in a query (`from`, `to`, both inclusive), either as days to which values belong, or as times in UTC. */
import type { z } from 'zod';
import type { DayRange } from '#queries/day-scans.ts';
import { parsePeriod } from '#src/fhir/search/period.ts';
import { readDays } from '#src/shared/time/day.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** Days `YYYY-MM-DD`, which can be sorted as text. */
interface Days {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Refuses a last day that is before the first day. */
export function daysInOrder({ from, to }: Days, context: z.RefinementCtx): void {
  if (from !== undefined && to !== undefined && from > to) addReversed(['from', from], ['to', to], context);
}

/** Adds the faults of a period that ends before it begins: one for each of the two members. */
export function addReversed(
  [first, from]: readonly [name: string, value: string],
  [last, to]: readonly [name: string, value: string],
  context: z.RefinementCtx,
): void {
  context.addIssue({ code: 'custom', path: [first], message: `must not be after ${last}, ${to}` });
  context.addIssue({ code: 'custom', path: [last], message: `must not be before ${first}, ${from}` });
}

/** Returns the requested range of days, for days `YYYY-MM-DD`. */
export function dayRange({ from, to }: Days): DayRange {
  return {
    from: from === undefined ? undefined : readDays(from).first,
    to: to === undefined ? undefined : readDays(to).last,
  };
}

/** Returns the times [from, to) in UTC for days `YYYY-MM-DD`. */
export function parseMoments(
  from: string | undefined,
  to: string | undefined,
): { readonly from?: Micros | undefined; readonly to?: Micros | undefined } {
  return {
    from: from === undefined ? undefined : parsePeriod(from)?.from,
    to: to === undefined ? undefined : parsePeriod(to)?.to,
  };
}
