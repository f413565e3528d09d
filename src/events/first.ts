/** Reads the first event of a log, which identifies the log. */
import { firstValueFrom } from 'rxjs';
import { filter } from 'rxjs/operators';
import { BEGINNING, type EventStore, type RecordedEvent } from './store.ts';

/** Kinds of streams that are never erased. */
const KEPT = ['organization-', 'project-'];

/**
 * Returns the first event of an organization or a project. Such events are never erased, and copies of the log contain them
 * too.
 * @returns undefined if the log has no such event.
 * @throws Unavailable
 */
export async function firstEvent(
  store: Pick<EventStore, 'head' | 'subscribe'>,
): Promise<RecordedEvent | undefined> {
  const head = await store.head();
  if (head === BEGINNING) return undefined;
  let first: RecordedEvent | undefined;
  const positions = store.subscribe({
    after: BEGINNING,
    prefixes: KEPT,
    // The event is among the first events, but may not be the very first. Smaller pages would need one round trip per event.
    batchSize: 500,
    handle: async ({ events }) => {
      first ??= events[0];
    },
  });
  await firstValueFrom(positions.pipe(filter((position) => first !== undefined || position >= head)));
  return first;
}
