/** Positions of the event store, as people write them. */
import type { Position } from '#src/events/store.ts';
import { Failure, MISUNDERSTOOD } from './failure.ts';

/**
 * The position in `position:<text>`: decimal numbers, as stores write them or without their leading zeros.
 * @param head of the store that it belongs to: its numbers are as long.
 * @throws Failure when it is none.
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
