/**
 * Parked events: events that a process failed to act on. They don't delay later events, they are retried, and they are never
 * dropped.
 */
import type { Pool } from 'pg';
import type { Position, RecordedEvent } from '../events/store.ts';

/** The DDL of a separate migration. Stream and revision identify an event in any store. */
export const PARKED_SQL = `
CREATE TABLE operations.parked (
  process text NOT NULL,
  stream text NOT NULL,
  revision int NOT NULL,
  position text NOT NULL,              -- of the event, in the store of its time
  event_id uuid NOT NULL,
  error text NOT NULL,                 -- of the last try, without data
  attempts int NOT NULL,
  since timestamptz NOT NULL DEFAULT now(),
  retry_at timestamptz NOT NULL,
  PRIMARY KEY (process, stream, revision)
);`;

export interface ParkedEvent {
  readonly process: string;
  readonly stream: string;
  readonly revision: number;
  readonly eventId: string;
  /** Error from the last try. */
  readonly error: string;
  readonly attempts: number;
  readonly since: Date;
  readonly retryAt: Date;
}

const COLUMNS = `process, stream, revision, event_id as "eventId", error, attempts, since, retry_at as "retryAt"`;

/** Pause before the next try: 15 s, doubled each time, at most an hour. */
const PAUSE = `least(interval '15 seconds' * power(2, least(attempts, 20)), interval '1 hour')`;

/** The parked events of all processes. */
export class ParkedEvents {
  constructor(readonly pool: Pool) {}

  /** Parks an event; resolves when the parking is durable. */
  async park(process: string, event: RecordedEvent, error: string, attempts: number): Promise<void> {
    await this.pool.query(
      `INSERT INTO operations.parked (process, stream, revision, position, event_id, error, attempts, retry_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, now() + interval '15 seconds')
       ON CONFLICT (process, stream, revision) DO UPDATE SET error = excluded.error`,
      [process, event.stream, event.revision, event.position, event.id, error, attempts],
    );
  }

  /** Returns the parked events of all processes, oldest first. */
  async all(): Promise<ParkedEvent[]> {
    const { rows } = await this.pool.query<ParkedEvent>(
      `SELECT ${COLUMNS} FROM operations.parked ORDER BY since, process, stream, revision`,
    );
    return rows;
  }

  /** Returns a process's parked events that are due to be retried, oldest first. */
  async due(process: string): Promise<ParkedEvent[]> {
    const { rows } = await this.pool.query<ParkedEvent>(
      `SELECT ${COLUMNS} FROM operations.parked
        WHERE process = $1 AND retry_at <= now() ORDER BY since, stream, revision LIMIT 100`,
      [process],
    );
    return rows;
  }

  /** Returns the number of parked events per process. */
  async counts(): Promise<ReadonlyMap<string, number>> {
    const { rows } = await this.pool.query<{ process: string; events: number }>(
      'SELECT process, count(*) AS events FROM operations.parked GROUP BY process',
    );
    return new Map(rows.map(({ process, events }) => [process, events]));
  }

  /** Returns whether the event at a position is parked. */
  async holds(process: string, position: Position): Promise<boolean> {
    return this.#exists('position', process, position);
  }

  /** Returns whether any event in a stream is parked. */
  async isParked(process: string, stream: string): Promise<boolean> {
    return this.#exists('stream', process, stream);
  }

  /** Records another failed try. */
  async failed({ process, stream, revision }: ParkedEvent, error: string): Promise<void> {
    await this.pool.query(
      `UPDATE operations.parked SET error = $4, attempts = attempts + 1, retry_at = now() + ${PAUSE}
        WHERE process = $1 AND stream = $2 AND revision = $3`,
      [process, stream, revision, error],
    );
  }

  /** Removes an event because its work is done or its stream was erased. */
  async done({ process, stream, revision }: ParkedEvent): Promise<void> {
    await this.pool.query(
      'DELETE FROM operations.parked WHERE process = $1 AND stream = $2 AND revision = $3',
      [process, stream, revision],
    );
  }

  /** Makes all parked events due for a retry now, for one process or for all processes. */
  async hurry(process?: string): Promise<void> {
    await this.pool.query(
      'UPDATE operations.parked SET retry_at = now() WHERE $1::text IS NULL OR process = $1',
      [process ?? null],
    );
  }

  /**
   * Makes one event due for a retry now.
   * @returns false if the event isn't parked
   */
  async hurryOne(process: string, eventId: string): Promise<boolean> {
    const { rowCount } = await this.pool.query(
      'UPDATE operations.parked SET retry_at = now() WHERE process = $1 AND event_id = $2',
      [process, eventId],
    );
    return rowCount !== 0;
  }

  async #exists(column: 'position' | 'stream', process: string, value: string): Promise<boolean> {
    const { rows } = await this.pool.query<{ there: boolean }>(
      `SELECT EXISTS (SELECT FROM operations.parked WHERE process = $1 AND ${column} = $2) AS there`,
      [process, value],
    );
    return rows[0]?.there ?? false;
  }
}
