/** Parses positions in the event store, as users type them. */
import type { Position } from '#src/events/store.ts';
import { Failure, MISUNDERSTOOD } from '../failure.ts';

/**
 * Parses the position in `position:<text>`: decimal numbers, with leading zeros as stores write them, or without.
 * @param head the head of its store, whose numbers have the same length.
 * @throws Failure if the position is invalid.
 */
export function parsePosition(text: string, head: Position): Position {
  if (!/^\d{1,19}(\/\d{1,19})?$/.test(text)) {
    throw new Failure(
      `position:${text} is not a valid position; expected a number, for example position:1200`,
      MISUNDERSTOOD,
    );
  }
  const digits = head.split('/')[0]?.length ?? 0;
  const padded = text.split('/').map((number) => number.padStart(digits, '0'));
  return padded.join('/') as Position;
}
