/** Rows of records whose events are gone already, but whose erasure is not yet on record. */
import { type EventStore, StreamDeleted } from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import type { RowDifference } from './compare.ts';

/**
 * The differences that are faults. Between the removal of a record's stream and the event `RecordErased` the log
 * no longer has what the tables still show: that is lawful.
 */
export async function withoutErasures(
  store: Pick<EventStore, 'read'>,
  differences: readonly RowDifference[],
): Promise<RowDifference[]> {
  const erased = new Map<string, boolean>();
  for (const { record } of differences) {
    if (record !== null && !erased.has(record)) erased.set(record, await isErased(store, record));
  }
  const excused = new Set<unknown>();
  for (const { record, key } of differences) {
    if (record !== null && erased.get(record) === true) excused.add(key.id);
  }
  // Tables that do not say whose a row is name the resource, which another table's difference has excused.
  return differences.filter(({ record, key }) =>
    record === null ? !excused.has(key.id) : erased.get(record) !== true,
  );
}

async function isErased(store: Pick<EventStore, 'read'>, record: string): Promise<boolean> {
  try {
    for await (const _ of store.read(recordStream(record), { limit: 1 })) return false;
    return false;
  } catch (error) {
    if (error instanceof StreamDeleted) return true;
    throw error;
  }
}
