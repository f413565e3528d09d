/** The answer to a command whose events an earlier attempt has already written. Pure. */
import type { StoredEvent } from '#src/events/catalog.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import type { WriteResult } from '../command.ts';
import type { Write } from './decide.ts';
import { entryOf, type StreamState } from './state.ts';

/**
 * Results of the writes from the events they made.
 * @param before the stream's state before those events: it tells an update from a restoration.
 */
export function rebuildResults(
  events: readonly StoredEvent[],
  before: StreamState,
  writes: readonly Write[],
): WriteResult[] {
  const byId = new Map(events.map((stored) => [stored.id, stored]));
  return writes.map((write) => {
    const { type, id } = write;
    const stored = byId.get(write.eventId);
    const entry = entryOf(before, id);
    if (stored === undefined) {
      return { outcome: 'unchanged', type, id, version: entry?.version ?? 1 };
    }
    return resultOf(stored, type, id, entry?.deleted ?? false);
  });
}

function resultOf(stored: StoredEvent, type: ResourceType, id: string, wasDeleted: boolean): WriteResult {
  const { event, metadata } = stored;
  const lastUpdated = metadata.recorded_at;
  switch (event.type) {
    case 'ResourceCreated':
      return { outcome: 'created', type, id: event.resourceId, version: 1, lastUpdated, body: event.body };
    case 'ResourceUpdated': {
      const outcome = wasDeleted ? 'restored' : 'updated';
      return { outcome, type, id: event.resourceId, version: event.version, lastUpdated, body: event.body };
    }
    case 'ResourceDeleted':
      return { outcome: 'deleted', type, id: event.resourceId, version: event.version, lastUpdated };
    default:
      throw new TypeError(`${event.type} is no answer to a write of ${type}/${id}`);
  }
}
