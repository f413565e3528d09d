/**
 * Builds the positions of either store: the event's number or byte offset, padded so that sorting positions as text gives the
 * right order.
 */
import { BEGINNING, type Position } from './store.ts';

/**
 * Returns the position of an event number (1 or higher); `BEGINNING` for 0. Sixteen digits are enough for
 * every integer that a JavaScript number represents exactly.
 */
export function toPosition(number: string | number): Position {
  const digits = String(number);
  return digits === '0' ? BEGINNING : (digits.padStart(16, '0') as Position);
}

/** Returns a position's event number; 0 for `BEGINNING`. */
export function toNumber(position: Position): number {
  return position === BEGINNING ? 0 : Number(position);
}

/** Returns the later of two positions. */
export function later(a: Position, b: Position): Position {
  return a < b ? b : a;
}
