/** The event store for requests: while it is known to be down, requests fail at once instead of each waiting for it. */
import { type EventStore, Unavailable } from './store.ts';
import { wrappedStore } from './wrapped-store.ts';

/**
 * Returns the same store. Its reads and writes fail with Unavailable while `logAnswers` says false; subscriptions keep
 * trying, and so do `reached` and `ping`.
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
