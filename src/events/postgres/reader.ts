/** Reads from the log. Each method runs one statement, which is retried if the connection breaks. */
import type pg from 'pg';
import { toNumber, toPosition } from '../position.ts';
import type { Identity } from '../refusal.ts';
import { BEGINNING, type Position, type RecordedEvent } from '../store.ts';
import type { Page } from '../subscription.ts';
import { AS_TEXT, COLUMNS, type EventRow, toEvent } from './rows.ts';
import { persist } from './session.ts';

/** The part of a stream to read. */
export interface StreamPart {
  readonly stream: string;
  readonly from: number;
  readonly direction: 'forwards' | 'backwards';
  readonly limit: number;
}

// The running sum prevents large events from filling the memory: a page ends with the row that exceeds the limit. The size of
// a body that is stored out of line is known without fetching the body.
const BEFORE = `coalesce(sum(octet_length(data) + octet_length(metadata))
  OVER (ORDER BY %s ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS before`;

const streamPage = (comparison: string, order: string): string => `
  SELECT ${COLUMNS} FROM (
    SELECT *, ${BEFORE.replace('%s', `revision ${order}`)} FROM (
      -- events_stream_revision
      SELECT ${COLUMNS} FROM log.events
       WHERE stream = $1 AND revision ${comparison} $2 ORDER BY revision ${order} LIMIT $3
    ) part
  ) measured WHERE before < $4 ORDER BY revision ${order}`;

const FORWARDS = streamPage('>=', 'ASC');
const BACKWARDS = streamPage('<=', 'DESC');

const logPage = (wanted: string): string => `
  SELECT position, stream, revision, id, type,
         CASE WHEN wanted THEN data END, CASE WHEN wanted THEN metadata END
  FROM (
    SELECT *, ${BEFORE.replace('%s', 'position')} FROM (
      -- events_position
      SELECT ${COLUMNS}, ${wanted} AS wanted FROM log.events WHERE position > $1 ORDER BY position LIMIT $2
    ) part
  ) measured WHERE before < $3 ORDER BY position`;

const ALL = logPage('true');
// Events that are filtered out are returned without their bodies, because their positions show how far the page reaches.
const FILTERED = logPage('stream ^@ ANY ($4::text[])');

/** The row for an event that is filtered out. */
type FilteredOut = [position: string, string, string, string, string, data: null, metadata: null];

// Index events_stream_revision. The hash is at the end of the metadata (chain.ts).
const IDENTITIES = `
  SELECT revision, id, position, left(right(metadata, 66), 64) FROM log.events
   WHERE stream = $1 AND revision BETWEEN $2 AND $3 ORDER BY revision`;

/** Reads through a pool. Every method throws `Unavailable` if the server remains unreachable. */
export class Reader {
  /**
   * @param pageBytes the approximate maximum number of body bytes in a page; one event may exceed it.
   * @param answerWithin the longest wait for a response, in ms.
   */
  constructor(
    private readonly pool: pg.Pool,
    private readonly pageBytes: number,
    private readonly answerWithin: number,
  ) {}

  /** Returns a stream's next events, and whether there may be more. */
  async stream({
    stream,
    from,
    direction,
    limit,
  }: StreamPart): Promise<{ events: RecordedEvent[]; ended: boolean }> {
    const rows = await this.#rows<EventRow>(
      direction === 'forwards' ? 'log-forwards' : 'log-backwards',
      direction === 'forwards' ? FORWARDS : BACKWARDS,
      [stream, from, limit, this.pageBytes],
    );
    return { events: rows.map(toEvent), ended: rows.length < limit && !this.#nearBound(rows) };
  }

  /** Reads the next `limit` events in all streams, and returns the events whose streams start with one of the prefixes. */
  async all(after: Position, limit: number, prefixes?: readonly string[]): Promise<Page> {
    const bounds = [toNumber(after), limit, this.pageBytes];
    const rows =
      prefixes === undefined
        ? await this.#rows<EventRow>('log-all', ALL, bounds)
        : await this.#rows<EventRow | FilteredOut>('log-filtered', FILTERED, [...bounds, prefixes]);
    const last = rows.at(-1);
    const wanted = rows.filter((row): row is EventRow => row[5] !== null);
    return {
      events: wanted.map(toEvent),
      position: last === undefined ? after : toPosition(last[0]),
      ended: rows.length < limit && !this.#nearBound(wanted),
    };
  }

  /** Returns the newest event's position. */
  async head(): Promise<Position> {
    const [row] = await this.#rows<[string | null]>('log-head', 'SELECT max(position) FROM log.events', []);
    return row?.[0] == null ? BEGINNING : toPosition(row[0]);
  }

  /** Returns the last position that a transaction has drawn, whether or not it was committed. */
  async reached(): Promise<Position> {
    const [row] = await this.#rows<[string]>(
      'log-reached',
      'SELECT CASE WHEN is_called THEN last_value ELSE 0 END FROM log.positions',
      [],
    );
    return toPosition(row?.[0] ?? 0);
  }

  /** Returns true if a stream was erased. */
  async erased(stream: string): Promise<boolean> {
    const rows = await this.#rows('log-erased', 'SELECT 1 FROM log.erased WHERE stream = $1', [stream]);
    return rows.length > 0;
  }

  /** Returns the ids, revisions and hashes of the events in a stream between two revisions, both inclusive. */
  async identities(stream: string, from: number, to: number): Promise<Identity[]> {
    const rows = await this.#rows<[string, string, string, string]>('log-identities', IDENTITIES, [
      stream,
      from,
      to,
    ]);
    return rows.map(([revision, id, position, hash]) => ({
      revision: Number(revision),
      id,
      position: toPosition(position),
      hash,
    }));
  }

  /** Checks that the server responds. */
  async ping(): Promise<void> {
    await this.#rows('log-ping', 'SELECT 1', []);
  }

  /** Returns true if a page may have been cut off because of its size. (A UTF-16 unit takes up at most three bytes.) */
  #nearBound(rows: readonly EventRow[]): boolean {
    return rows.reduce((sum, row) => sum + row[5].length + row[6].length, 0) * 3 >= this.pageBytes;
  }

  #rows<R extends unknown[]>(name: string, text: string, values: unknown[]): Promise<R[]> {
    const config = {
      name,
      text,
      values,
      rowMode: 'array' as const,
      types: AS_TEXT,
      query_timeout: this.answerWithin,
    };
    return persist(async () => (await this.pool.query<R>(config)).rows);
  }
}
