/** How a worker process of the contract suite opens EventStoreDB. */
import { EventStoreDbStore } from '#src/events/eventstoredb/store.ts';
import type { EventStore } from '#src/events/store.ts';

/**
 * Opens a store on the server at EVENTSTORE_URL.
 * @param settings additional parameters for the connection string
 */
export function openStore(settings = ''): Promise<EventStore> {
  const url = process.env.EVENTSTORE_URL ?? '';
  return EventStoreDbStore.open({
    url: settings === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${settings}`,
  });
}
