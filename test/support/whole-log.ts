/** Reads a log as a list. */
import { lastValueFrom, takeWhile } from 'rxjs';
import { BEGINNING, type EventStore, type Position, type RecordedEvent } from '#src/events/store.ts';

/**
 * Returns all events that are in a log now, in order.
 * @param after a position to begin after, because a shared log may be long
 */
export async function wholeLog(store: EventStore, after: Position = BEGINNING): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  const head = await store.head();
  if (head === after) return events;
  const reading = store.subscribe({
    after,
    handle: async (batch) => void events.push(...batch.events),
  });
  await lastValueFrom(reading.pipe(takeWhile((position) => position < head, true)));
  return events;
}
