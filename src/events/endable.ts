/** The end of appends when a service stops. */
import { unavailable } from '../shared/refusal.ts';
import type { EventStore } from './store.ts';
import { wrappedStore } from './wrapped-store.ts';

/** A store whose appends can be ended. */
export interface EndableAppends {
  readonly store: EventStore;
  /** Refuses appends from now on, and resolves when those under way have ended. */
  end(): Promise<void>;
}

/**
 * Returns the same store. After `end` its appends are refused: a process that was stopped within an event doesn't write
 * anymore.
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
