/**
 * Positions of EventStoreDB: the byte offset of the event in the transaction file, padded as those of the embedded log.
 * Sixteen digits are enough for ten petabytes. Commit and prepare position are the same for all but explicit
 * transactions, which Annal never writes.
 */
import { toPosition as padded } from '../position.ts';
import { BEGINNING, type Position } from '../store.ts';

/** A place in `$all` as the server says it: two byte offsets, decimal. */
export interface WirePosition {
  readonly commit: string;
  readonly prepare: string;
}

/** Returns the position of an event from its two byte offsets, decimal. */
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
