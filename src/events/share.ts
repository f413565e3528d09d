/** How much of a log lies before a position, for showing progress. Positions of both stores begin with a padded number. */
import type { Position } from './store.ts';

/** The share of the log up to `head` that lies before `position`, 0 to 1. In EventStoreDB it is one of bytes. */
export function shareOf(position: Position, head: Position): number {
  const [at, end] = [position, head].map((each) => Number(each.split('/', 1)[0]));
  if (at === undefined || end === undefined || end === 0) return 1;
  return Math.min(1, at / end);
}

/**
 * How many events a log probably has up to `head`: as many a share as in the part that was read. Positions are never
 * taken for a count; those of EventStoreDB are bytes.
 * @param events that were read up to `position`.
 */
export function expectedEvents(events: number, position: Position, head: Position): number {
  const share = shareOf(position, head);
  return share === 0 ? events : Math.round(events / share);
}
