/**
 * Stores the newest event that an instance has followed. The length of a log doesn't prove that the log is complete: if it was
 * restored and then written to, even by EventStoreDB's own scavenge, it may extend beyond the position of the lost events. The
 * event does prove it: a log that contains the event contains everything before it.
 */
import type pg from 'pg';
import { type EventStore, type Position, type RecordedEvent, StreamDeleted } from '../events/store.ts';

/** DDL: at most one row. */
export const LOG_MARK_SQL = `
CREATE TABLE operations.log_mark (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  position text NOT NULL,              -- in the store of its time
  stream text NOT NULL,
  revision int NOT NULL,
  event_id uuid NOT NULL
);`;

/** The location of an event. */
export type LogMark = Pick<RecordedEvent, 'id' | 'stream' | 'revision' | 'position'>;

/**
 * Returns whether a log has an event at the given location. An event whose stream was erased counts as present, because the
 * erasure came later.
 * @throws Unavailable
 */
export async function holds(store: Pick<EventStore, 'read'>, mark: LogMark): Promise<boolean> {
  try {
    for await (const event of store.read(mark.stream, { from: mark.revision, limit: 1 }))
      return event.id === mark.id && event.position === mark.position;
    return false;
  } catch (error) {
    if (error instanceof StreamDeleted) return true;
    throw error;
  }
}

/** Returns the stored mark; undefined if there is none, or if this version hasn't migrated the database yet. */
export async function readMark(client: pg.ClientBase | pg.Pool): Promise<LogMark | undefined> {
  const there = await client.query("SELECT WHERE to_regclass('operations.log_mark') IS NOT NULL");
  if (there.rowCount === 0) return undefined;
  const { rows } = await client.query<LogMark & { position: Position }>(
    'SELECT event_id AS id, stream, revision, position FROM operations.log_mark',
  );
  return rows[0];
}

/** Notes an event, unless this or another instance has already noted a later one. */
export async function noteMark(client: pg.ClientBase | pg.Pool, mark: LogMark): Promise<void> {
  const { position, stream, revision, id } = mark;
  await client.query(
    `INSERT INTO operations.log_mark AS m (position, stream, revision, event_id) VALUES ($1, $2, $3, $4)
     ON CONFLICT (one) DO UPDATE
       SET position = excluded.position, stream = excluded.stream, revision = excluded.revision, event_id = excluded.event_id
       WHERE m.position < excluded.position`,
    [position, stream, revision, id],
  );
}

/**
 * Moves the mark to another log with the same events, in the caller's transaction.
 * @param place returns the event's position in the other log
 */
export async function moveMark(
  tx: pg.ClientBase,
  place: (mark: LogMark) => Promise<Position>,
): Promise<void> {
  const mark = await readMark(tx);
  if (mark !== undefined) await tx.query('UPDATE operations.log_mark SET position = $1', [await place(mark)]);
}

/** Deletes the mark, because its position is meaningless in a log that has lost the event. */
export async function forgetMark(client: pg.ClientBase | pg.Pool): Promise<void> {
  const there = await client.query("SELECT WHERE to_regclass('operations.log_mark') IS NOT NULL");
  if (there.rowCount !== 0) await client.query('DELETE FROM operations.log_mark');
}
