/**
 * Estimates how much of a log lies before a position, to show progress. In both stores, positions begin with a padded number.
 */
import type { Position } from './store.ts';

/**
 * Returns the fraction of the log up to `head` that lies before `position`, from 0 to 1. For EventStoreDB, it is a fraction of
 * the bytes.
 */
export function shareBefore(position: Position, head: Position): number {
  const [at, end] = [position, head].map((each) => Number(each.split('/', 1)[0]));
  if (at === undefined || end === undefined || end === 0) return 1;
  return Math.min(1, at / end);
}

/**
 * Estimates how many events a log contains up to `head`, from the part that has been read. Positions don't count events;
 * EventStoreDB's positions are byte offsets.
 * @param events the number of events read up to `position`.
 */
export function expectedEvents(events: number, position: Position, head: Position): number {
  const share = shareBefore(position, head);
  return share === 0 ? events : Math.round(events / share);
}
