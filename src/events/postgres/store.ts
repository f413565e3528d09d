/** The embedded default adapter of the event store port: a log in PostgreSQL. It requires no other installation. */
import type pg from 'pg';
import { Observable } from 'rxjs';
import { openPool } from '../../database/pool.ts';
import { Append, MAX_REVISION } from '../append.ts';
import { answerRefused } from '../refusal.ts';
import {
  type AppendResult,
  type EventStore,
  type Expected,
  type NewEvent,
  type Position,
  type ReadOptions,
  type RecordedEvent,
  StreamDeleted,
  type SubscribeOptions,
  Unavailable,
  type WrittenBatch,
} from '../store.ts';
import { Subscription } from '../subscription.ts';
import { AppendQueue, type BatchOutcome, writeBatch } from './append-queue.ts';
import { Feed } from './feed.ts';
import { DEFAULTS, type PostgresEventStoreOptions, WRITER_SETUP } from './options.ts';
import { Reader } from './reader.ts';
import { LOG_SCHEMA_SQL } from './schema.ts';
import { persist, Session } from './session.ts';

const PAGE_EVENTS = 500;

/** Stores events in PostgreSQL. `schema.ts` explains why readers can't miss any events. */
export class PostgresEventStore implements EventStore {
  readonly #options: PostgresEventStoreOptions;
  readonly #batchBytes: number;
  readonly #pool: pg.Pool;
  readonly #reader: Reader;
  readonly #writer: Session;
  readonly #feed: Feed;
  readonly #queue: AppendQueue;
  readonly #busy = new Set<Promise<unknown>>();
  #closed = false;

  private constructor(options: PostgresEventStoreOptions) {
    const { url } = options;
    const { batchAppends, batchBytes, recheckEvery, answerWithin } = { ...DEFAULTS, ...options };
    this.#options = options;
    this.#batchBytes = batchBytes;
    this.#pool = options.pool ?? openPool(url, { max: 4, name: 'annal log reader' });
    this.#reader = new Reader(this.#pool, batchBytes, answerWithin);
    const onLost = (error: unknown): void => {
      options.log?.warn({ err: error }, 'lost a connection to the event log');
    };
    this.#writer = new Session({ url, name: 'annal log writer', setup: WRITER_SETUP, answerWithin, onLost });
    this.#feed = new Feed({
      url,
      name: 'annal log listener',
      answerWithin,
      recheckEvery,
      head: () => this.#reader.head(),
      pages: this.#reader,
      writer: () => this.#writer.backend,
      onLost,
      hasPeers: options.hasPeers ?? false,
    });
    this.#queue = new AppendQueue({
      batchAppends,
      batchBytes,
      write: (appends) => writeBatch(this.#writer, appends),
      settle: (outcome) => this.#settle(outcome),
      onRetry: (error) => options.log?.warn({ err: error }, 'retrying a batch of appends'),
    });
  }

  /**
   * Opens the log, and installs its schema if the database doesn't have it. In a read-only database, the schema must already
   * exist.
   * @throws Unavailable if the server can't be reached.
   */
  static async open(options: PostgresEventStoreOptions): Promise<PostgresEventStore> {
    const store = new PostgresEventStore(options);
    try {
      await persist(() => installSchema(store.#pool));
      await persist(() => store.#writer.connect());
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  async append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<AppendResult> {
    this.#assertOpen();
    const append = new Append(stream, expected, events);
    this.#queue.add(append);
    return append.result;
  }

  async *read(stream: string, options: ReadOptions = {}): AsyncGenerator<RecordedEvent> {
    this.#assertOpen();
    const { direction = 'forwards', limit = Number.POSITIVE_INFINITY } = options;
    let from = Math.min(options.from ?? (direction === 'forwards' ? 0 : MAX_REVISION), MAX_REVISION);
    for (let left = limit; left > 0; ) {
      const page = await this.#reader.stream({ stream, from, direction, limit: Math.min(left, PAGE_EVENTS) });
      const last = page.events.at(-1);
      if (last === undefined) {
        if (await this.#reader.erased(stream)) throw new StreamDeleted(stream);
        return;
      }
      yield* page.events;
      if (page.ended) return;
      left -= page.events.length;
      from = last.revision + (direction === 'forwards' ? 1 : -1);
    }
  }

  subscribe(options: SubscribeOptions): Observable<Position> {
    return new Observable((subscriber) => {
      if (this.#closed) {
        subscriber.error(closed());
        return undefined;
      }
      const subscription = new Subscription(this.#feed, this.#reader, options, this.#batchBytes);
      this.#track(
        subscription
          .run((position) => subscriber.next(position))
          .then(
            () => subscriber.complete(),
            (error: unknown) => subscriber.error(error),
          ),
      );
      return () => subscription.stop();
    });
  }

  /** Accepts a batch written by another process on this machine, so that this process needn't read it. */
  receive(batch: WrittenBatch): void {
    this.#feed.receive(batch);
  }

  head(): Promise<Position> {
    return this.#reader.head();
  }

  reached(): Promise<Position> {
    return this.#reader.reached();
  }

  async erase(stream: string): Promise<void> {
    this.#assertOpen();
    await this.#track(
      persist(() =>
        this.#writer.query({ text: 'SELECT log.erase_stream($1)', values: [stream], rowMode: 'array' }),
      ),
    );
    this.#feed.forget();
  }

  ping(): Promise<void> {
    return this.#reader.ping();
  }

  /** Refuses new appends, waits for appends and handlers in progress, and completes subscriptions. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#queue.idle();
    await this.#feed.close();
    await Promise.allSettled(this.#busy);
    await this.#writer.end();
    if (this.#options.pool === undefined) await this.#pool.end();
  }

  /** Notifies subscribers before callers, so that subscribers are already reading when the caller gets the result. */
  #settle({ previous, outcomes }: BatchOutcome): void {
    const events: RecordedEvent[] = [];
    for (const outcome of outcomes) {
      if (!outcome.written) continue;
      const { stream, events: sealed } = outcome.append;
      sealed.forEach((event, index) => {
        const position = outcome.positions[index];
        if (position !== undefined) events.push({ stream, position, ...event });
      });
    }
    const last = events.at(-1);
    if (last !== undefined) {
      const batch = { previous, events, position: last.position };
      this.#feed.publish(batch);
      this.#options.onWritten?.(batch);
    }
    this.#options.onBatch?.(outcomes.length);

    for (const outcome of outcomes) {
      const { append } = outcome;
      if (outcome.written) {
        const position = outcome.positions.at(-1);
        if (position !== undefined) append.resolve({ head: append.head, position });
      } else {
        this.#track(
          answerRefused(this.#reader, outcome).then(
            (result) => {
              // The append was written by an attempt whose response was lost, so subscribers haven't been notified yet.
              this.#feed.reach(result.position);
              append.resolve(result);
            },
            (error: unknown) => append.reject(error),
          ),
        );
      }
    }
  }

  #track<T>(work: Promise<T>): Promise<T> {
    const settled = work.then(
      () => undefined,
      () => undefined,
    );
    this.#busy.add(settled);
    void settled.then(() => this.#busy.delete(settled));
    return work;
  }

  #assertOpen(): void {
    if (this.#closed) throw closed();
  }
}

function closed(): Unavailable {
  return new Unavailable('the event log is closed');
}

async function installSchema(pool: pg.Pool): Promise<void> {
  const { rows } = await pool.query<{ setting: string }>(
    "select current_setting('transaction_read_only') as setting",
  );
  if (rows[0]?.setting === 'off') await pool.query(LOG_SCHEMA_SQL);
}
