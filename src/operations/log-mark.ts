/**
 * Stores the newest event that an instance has followed. The length of a log doesn't prove that it is complete: a log
 * that was restored and written to, even by EventStoreDB's own scavenge, may reach beyond the lost events. The event
 * does: a log that contains it contains everything before it.
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
 * Tells whether a log has an event at its location. An event whose stream was erased counts as present, because the
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

/** Returns the stored mark; undefined if there is none, or the database was not migrated by this version. */
export async function readMark(client: pg.ClientBase | pg.Pool): Promise<LogMark | undefined> {
  const there = await client.query("SELECT WHERE to_regclass('operations.log_mark') IS NOT NULL");
  if (there.rowCount === 0) return undefined;
  const { rows } = await client.query<LogMark & { position: Position }>(
    'SELECT event_id AS id, stream, revision, position FROM operations.log_mark',
  );
  return rows[0];
}

/** Notes an event, unless a later one is noted: by this instance or another. */
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
 * Moves the mark to another log that has the same events, in the caller's transaction.
 * @param place the event's position there.
 */
export async function moveMark(
  tx: pg.ClientBase,
  place: (mark: LogMark) => Promise<Position>,
): Promise<void> {
  const mark = await readMark(tx);
  if (mark !== undefined) await tx.query('UPDATE operations.log_mark SET position = $1', [await place(mark)]);
}

/** Forgets it: its position means nothing in a log that has lost the event. */
export async function forgetMark(client: pg.ClientBase | pg.Pool): Promise<void> {
  const there = await client.query("SELECT WHERE to_regclass('operations.log_mark') IS NOT NULL");
  if (there.rowCount !== 0) await client.query('DELETE FROM operations.log_mark');
}
