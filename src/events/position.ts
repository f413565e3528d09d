/** Positions of either store: the number of the event or its byte offset, padded so that the order of texts is its order. */
import { BEGINNING, type Position } from './store.ts';

/**
 * The position of an event's number, which is at least 1; `BEGINNING` for 0. Sixteen digits hold every integer that a
 * JavaScript number holds exactly.
 */
export function toPosition(number: string | number): Position {
  const digits = String(number);
  return digits === '0' ? BEGINNING : (digits.padStart(16, '0') as Position);
}

/** The number of a position; 0 for `BEGINNING`. */
export function toNumber(position: Position): number {
  return position === BEGINNING ? 0 : Number(position);
}

/** The later of two positions. */
export function later(a: Position, b: Position): Position {
  return a < b ? b : a;
}
