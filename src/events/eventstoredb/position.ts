/**
 * Converts EventStoreDB's positions. A position is the event's byte offset in the transaction file, padded like positions in
 * the embedded log; sixteen digits are enough for ten petabytes. The commit and prepare positions are the same except in
 * explicit transactions, which Annal never writes.
 */
import { toPosition as padded } from '../position.ts';
import { BEGINNING, type Position } from '../store.ts';

/** A position in `$all` as the server reports it: two decimal byte offsets. */
export interface WirePosition {
  readonly commit: string;
  readonly prepare: string;
}

/** Returns an event's position from its two decimal byte offsets. */
export function toPosition(commit: string, prepare: string): Position {
  return (commit === prepare ? padded(commit) : `${padded(commit)}/${padded(prepare)}`) as Position;
}

/** Converts a position to the server's form; undefined for `BEGINNING`. */
export function toWire(position: Position): WirePosition | undefined {
  if (position === BEGINNING) return undefined;
  const [commit = '0', prepare = commit] = position
    .split('/')
    .map((digits) => digits.replace(/^0+(?=\d)/, ''));
  return { commit, prepare };
}
