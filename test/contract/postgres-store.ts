/** How a worker process of the contract suite opens the PostgreSQL log. */
import { PostgresEventStore } from '#src/events/postgres/store.ts';
import type { EventStore } from '#src/events/store.ts';

/** Opens a store on the database that ANNAL_TEST_LOG_URL names. */
export function openStore(): Promise<EventStore> {
  return PostgresEventStore.open({ url: process.env.ANNAL_TEST_LOG_URL ?? '' });
}
