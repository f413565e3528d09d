/**
 * The event store for requests: while it is known to be down, requests fail at once instead of each waiting for it. A search
 * or list shows every write that was acknowledged before it.
 */

import type { Pool } from 'pg';
import { type EventStore, type Position, Unavailable } from '#src/events/store.ts';
import { wrappedStore } from '#src/events/wrapped-store.ts';
import { acknowledgedPosition } from '#src/operations/late-writes.ts';
import { withTimeout } from '#src/shared/load/with-timeout.ts';

/** How long to wait for the log's head, in ms. After that it asks the database. */
const LOG_MS = 1_000;

/**
 * Returns where the log ends or, when it doesn't answer, a position at or after every acknowledged write of a record.
 * @throws errors of the database.
 */
export async function acknowledged({
  store,
  pool,
  logAnswers,
}: {
  readonly store: Pick<EventStore, 'head'>;
  readonly pool: Pool;
  /** Returns true if the log has answered recently. */
  readonly logAnswers: () => boolean;
}): Promise<Position> {
  if (logAnswers()) {
    const head = await withTimeout(LOG_MS, store.head()).catch(() => undefined);
    if (head !== undefined) return head;
  }
  return acknowledgedPosition(pool);
}

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
