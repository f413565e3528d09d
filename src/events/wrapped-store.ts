/**
 * Creates event stores in which some operations are replaced: the store for requests, which fails immediately while the log is
 * known to be down, and a store whose appends can be ended when a service stops.
 */
import { unavailable } from '../shared/refusal.ts';
import { type EventStore, Unavailable } from './store.ts';

/** Returns a store with the operations in `own`; all other operations are passed on to `store`. */
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

/**
 * Returns the store for requests. While the log is known to be down, it fails immediately, so that each request needn't wait
 * for the log. Reads and writes fail with Unavailable while `logAnswers` returns false; subscriptions, `reached` and `ping`
 * keep trying.
 */
export function answering(store: EventStore, logAnswers: () => boolean): EventStore {
  const assertAnswers = (): void => {
    if (!logAnswers()) throw new Unavailable("the event store doesn't answer; retry in a second");
  };
  return wrappedStore(store, {
    async append(stream, expected, events) {
      assertAnswers();
      return store.append(stream, expected, events);
    },
    async *read(stream, options) {
      assertAnswers();
      yield* store.read(stream, options);
    },
    async head() {
      assertAnswers();
      return store.head();
    },
    async erase(stream) {
      assertAnswers();
      return store.erase(stream);
    },
  });
}

/** A store whose appends can be ended. */
export interface EndableAppends {
  readonly store: EventStore;
  /** Refuses appends from now on, and resolves when the appends in progress have finished. */
  end(): Promise<void>;
}

/**
 * Returns the same store, but with appends that are refused after `end`, so that a process that is stopped while it handles an
 * event writes nothing more.
 */
export function endableAppends(store: EventStore): EndableAppends {
  const running = new Set<Promise<unknown>>();
  let ended = false;
  return {
    store: wrappedStore(store, {
      append(stream, expected, events) {
        if (ended) return Promise.reject(unavailable('the service is stopping'));
        const append = store.append(stream, expected, events);
        running.add(append);
        const over = (): boolean => running.delete(append);
        append.then(over, over);
        return append;
      },
    }),
    async end() {
      ended = true;
      await Promise.allSettled(running);
    },
  };
}
