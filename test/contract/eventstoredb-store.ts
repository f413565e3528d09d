/** How a worker process of the contract suite opens EventStoreDB. */
import { EventStoreDbStore } from '#src/events/eventstoredb/store.ts';
import type { EventStore } from '#src/events/store.ts';

/** A store on the server that EVENTSTORE_URL names. */
export function openStore(): Promise<EventStore> {
  return EventStoreDbStore.open({ url: process.env.EVENTSTORE_URL ?? '' });
}
