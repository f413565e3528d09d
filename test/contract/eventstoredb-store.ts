/** How a worker process of the contract suite opens EventStoreDB. */
import { EventStoreDbStore } from '#src/events/eventstoredb/store.ts';
import type { EventStore } from '#src/events/store.ts';

/** A store on the server that EVENTSTORE_URL names. @param settings further parameters of the connection string */
export function openStore(settings = ''): Promise<EventStore> {
  const url = process.env.EVENTSTORE_URL ?? '';
  return EventStoreDbStore.open({
    url: settings === '' ? url : `${url}${url.includes('?') ? '&' : '?'}${settings}`,
  });
}
