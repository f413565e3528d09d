/** The period that a list covers: `from` and `to` in its query. */
import { z } from 'zod';
import { type Micros, toMicros } from '#src/shared/time/time.ts';
import { addReversed } from '../rest/days.ts';

const moment = z.union(
  [z.iso.datetime({ offset: true }), z.iso.date()],
  'must be a date, or a date and time with offset',
);
const DAY = 86_400_000_000;

/** Members of a query. */
export const PERIOD_QUERY = {
  from: moment.optional().describe('Date or date-time, inclusive.'),
  to: moment.optional().describe('Date, inclusive, or date-time, exclusive.'),
};

/** A period in microseconds, from `from` (inclusive) to `to` (exclusive). */
export interface Period {
  readonly from: Micros | undefined;
  readonly to: Micros | undefined;
}

/** `from` and `to` as they are in a query. */
interface Asked {
  readonly from?: string | undefined;
  readonly to?: string | undefined;
}

/** Refuses a period that ends before it begins. */
export function periodInOrder(asked: Asked, context: z.RefinementCtx): void {
  const { from, to } = periodIn(asked);
  if (from !== undefined && to !== undefined && (asked.to?.length === 10 ? from >= to : from > to))
    addReversed(['from', String(asked.from)], ['to', String(asked.to)], context);
}

/** Returns the period in a query. */
export function periodIn({ from, to }: Asked): Period {
  return {
    from: from === undefined ? undefined : toMicros(from),
    to: to === undefined ? undefined : toMicros(to) + (to.length === 10 ? DAY : 0),
  };
}
