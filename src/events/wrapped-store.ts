/** Event stores with some operations replaced. */
import type { EventStore } from './store.ts';

/** Returns a store that has the operations of `own` and passes all others on to `store`. */
export function wrappedStore(store: EventStore, own: Partial<EventStore>): EventStore {
  return {
    append: (stream, expected, events) => store.append(stream, expected, events),
    read: (stream, options) => store.read(stream, options),
    subscribe: (options) => store.subscribe(options),
    head: () => store.head(),
    reached: () => store.reached(),
    erase: (stream) => store.erase(stream),
    ping: () => store.ping(),
    close: () => store.close(),
    ...own,
  };
}
