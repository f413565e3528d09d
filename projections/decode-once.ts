/** Stored events decoded once, however many projections of this process are handed them. */
import type { StoredEvent } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import type { RecordedEvent } from '#src/events/store.ts';

const known = new WeakMap<RecordedEvent, StoredEvent>();

/** Returns the event as `understand` does; the same object again for the same recorded event. */
export function decodeOnce(recorded: RecordedEvent): StoredEvent {
  const before = known.get(recorded);
  if (before !== undefined) return before;
  const event = understand(recorded);
  known.set(recorded, event);
  return event;
}
