/** Reads a log as a list. */
import { lastValueFrom, takeWhile } from 'rxjs';
import { BEGINNING, type EventStore, type RecordedEvent } from '#src/events/store.ts';

/** Returns all events that a log has now, in order. */
export async function wholeLog(store: EventStore): Promise<RecordedEvent[]> {
  const events: RecordedEvent[] = [];
  const head = await store.head();
  const reading = store.subscribe({
    after: BEGINNING,
    handle: async (batch) => void events.push(...batch.events),
  });
  await lastValueFrom(reading.pipe(takeWhile((position) => position < head, true)));
  return events;
}
