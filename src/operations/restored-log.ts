/**
 * Handles a log that was restored from a backup older than the data derived from the log. Positions, revisions and ids will be
 * assigned a second time, so data that refers to their first use must be found and deleted (docs/backup.md).
 */
import type { Pool } from 'pg';
import { parseMetadata } from '../events/metadata.ts';
import { type EventStore, type Position, StreamDeleted } from '../events/store.ts';
import { recordStream } from '../events/streams.ts';
import { holds, type LogMark } from './log-mark.ts';

/** Thrown when the log ends before the data that was derived from it. */
export class LogBehind extends Error {
  override readonly name = 'LogBehind';
  /**
   * @param ahead names of the followers whose positions are beyond the log's end
   * @param found the problem with the log, as the rest of "the event log"
   */
  constructor(
    readonly ahead: readonly string[],
    found = `is shorter than what was derived from it (${ahead.join(', ')})`,
  ) {
    super(
      `the event log ${found}: it was restored from an older backup, or it is a different log. ` +
        'Nothing was changed. If it is the right log, stop every instance and run ' +
        '`annal rebuild --restored`; see docs/backup.md',
    );
  }
}

/**
 * Checks that the log reaches at least as far as all its followers.
 * @param positions by name, as they were noted
 * @throws LogBehind, Unavailable
 */
export async function assertNotBehind(
  store: Pick<EventStore, 'reached'>,
  positions: ReadonlyMap<string, Position>,
): Promise<void> {
  // Copied first, because a running follower may pass the end that `reached` is about to return.
  const noted = [...positions];
  const reached = await store.reached();
  const ahead = noted.filter(([, position]) => position > reached).map(([name]) => name);
  if (ahead.length > 0) throw new LogBehind(ahead);
}

/**
 * Checks that the log still contains an event that was followed, regardless of how far the log now extends.
 * @throws LogBehind, Unavailable
 */
export async function assertHolds(store: Pick<EventStore, 'read'>, mark: LogMark): Promise<void> {
  if (await holds(store, mark)) return;
  throw new LogBehind(
    [`event ${mark.id}`],
    `lacks event ${mark.id} (${mark.stream} revision ${mark.revision}), which it had before`,
  );
}

/** The data that was deleted. */
export interface Forgotten {
  /**
   * Number of idempotency keys that were deleted because their requests' events are missing, or because their requests wrote
   * no events.
   */
  readonly keys: number;
  /**
   * Number of idempotency keys that were kept because all events of their requests exist: a retry still gets the first answer.
   */
  readonly keptKeys: number;
}

/** Number of keys that are checked together. */
const KEYS = 200;

/**
 * Deletes everything in operations that refers to positions and revisions. No instance may be running; the call may be
 * repeated. Snapshots are deleted because they are derived. Processes start over at the beginning of the log, because the
 * events that show their work may be lost; repeated work has no effect. Idempotency keys are kept if their events are in the
 * log.
 * @throws Unavailable; errors from the database
 */
export async function forgetLostEvents(pool: Pool, store: Pick<EventStore, 'read'>): Promise<Forgotten> {
  await pool.query(
    'TRUNCATE operations.snapshot, operations.snapshot_entry, operations.process, operations.parked, operations.late_write',
  );
  await reviveAccessLogs(pool, store);
  let after = Buffer.alloc(0);
  let keys = 0;
  let keptKeys = 0;
  for (;;) {
    const { rows } = await pool.query<KeyRow>(
      `SELECT key_hash, attempts FROM operations.idempotency WHERE key_hash > $1 ORDER BY key_hash LIMIT ${KEYS}`,
      [after],
    );
    const last = rows.at(-1);
    if (last === undefined) return { keys, keptKeys };
    after = last.key_hash;
    const stays = await Promise.all(rows.map(({ attempts }) => allThere(store, attempts)));
    const gone = rows.filter((_row, index) => stays[index] !== true).map(({ key_hash }) => key_hash);
    await pool.query('DELETE FROM operations.idempotency WHERE key_hash = ANY ($1)', [gone]);
    keys += gone.length;
    keptKeys += rows.length - gone.length;
  }
}

/** Lets access logs start over for records whose purge was lost, because the log contains these records again. */
async function reviveAccessLogs(pool: Pool, store: Pick<EventStore, 'read'>): Promise<void> {
  const { rows } = await pool.query<{ record: string }>(
    'SELECT record FROM operations.access_head WHERE erased ORDER BY record',
  );
  for (const { record } of rows) {
    if (await hasEvents(store, recordStream(record)))
      await pool.query('DELETE FROM operations.access_head WHERE record = $1 AND erased', [record]);
  }
}

async function hasEvents(store: Pick<EventStore, 'read'>, stream: string): Promise<boolean> {
  try {
    for await (const _ of store.read(stream, { limit: 1 })) return true;
    return false;
  } catch (error) {
    if (error instanceof StreamDeleted) return false;
    throw error;
  }
}

interface KeyRow {
  readonly key_hash: Buffer<ArrayBuffer>;
  /** Command id → where the command tried to append its events. */
  readonly attempts: Readonly<Record<string, { readonly stream: string; readonly expectedRevision: number }>>;
}

/** Returns whether a request wrote events and all of them are in the log. */
async function allThere(store: Pick<EventStore, 'read'>, attempts: KeyRow['attempts']): Promise<boolean> {
  const all = Object.entries(attempts);
  for (const [commandId, { stream, expectedRevision }] of all) {
    if (!(await isThere(store, commandId, stream, expectedRevision + 1))) return false;
  }
  return all.length > 0;
}

async function isThere(
  store: Pick<EventStore, 'read'>,
  commandId: string,
  stream: string,
  revision: number,
): Promise<boolean> {
  try {
    for await (const event of store.read(stream, { from: revision, limit: 1 })) {
      return parseMetadata(event.metadata).command_id === commandId;
    }
    return false;
  } catch (error) {
    if (error instanceof StreamDeleted) return false;
    throw error;
  }
}
