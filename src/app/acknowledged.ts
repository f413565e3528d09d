/** Up to where a search or list must have come, so that it shows every write that was acknowledged before it. */
import type { Pool } from 'pg';
import { withTimeout } from '#src/shared/load/with-timeout.ts';
import type { EventStore, Position } from '../events/store.ts';
import { acknowledgedPosition } from '../operations/late-writes.ts';

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
