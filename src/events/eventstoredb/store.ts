/** Implements the event store with EventStoreDB, for production. See `docs/eventstoredb.md`. */
import { WrongExpectedVersionError } from '@eventstore/db-client';
import { Observable } from 'rxjs';
import { Append, MAX_REVISION } from '../append.ts';
import type { LogClosed } from '../closed.ts';
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
} from '../store.ts';
import { Subscription } from '../subscription.ts';
import { Appender } from './appender.ts';
import { LogClient } from './client.ts';
import { Closing } from './closing.ts';
import { ErasedStreams } from './erased.ts';
import { inTime, persist } from './faults.ts';
import { Feed } from './feed.ts';
import { Heads } from './heads.ts';
import { DEFAULTS, type EventStoreDbOptions } from './options.ts';
import { Outage } from './outage.ts';
import { Reader } from './reader.ts';
import { assertServer } from './server.ts';

const PAGE_EVENTS = 500;

/** Stores events in EventStoreDB 24.2 or later. */
export class EventStoreDbStore implements EventStore {
  readonly #options: EventStoreDbOptions;
  readonly #pageBytes: number;
  readonly #answerWithin: number;
  readonly #client: LogClient;
  readonly #heads = new Heads();
  readonly #erased = new ErasedStreams();
  readonly #closing = new Closing();
  readonly #reader: Reader;
  readonly #appender: Appender;
  readonly #feed: Feed;
  readonly #appending: Outage;
  readonly #busy = new Set<Promise<unknown>>();
  /** The last append to each stream with appends in progress. */
  readonly #turns = new Map<string, Promise<unknown>>();
  #closed = false;
  /** The reason why this process must no longer write to the log. */
  #left: LogClosed | undefined;

  private constructor(options: EventStoreDbOptions) {
    const { pageBytes, answerWithin } = { ...DEFAULTS, ...options };
    this.#options = options;
    this.#pageBytes = pageBytes;
    this.#answerWithin = answerWithin;
    this.#client = new LogClient(options.url, answerWithin);
    this.#reader = new Reader(this.#client, this.#heads, (stream) => this.#erased.has(stream), {
      pageBytes,
      answerWithin,
    });
    this.#appender = new Appender(this.#client, answerWithin);
    const following = new Outage(options.log, 'the subscription to the event log');
    this.#feed = new Feed({
      client: this.#client,
      reader: this.#reader,
      heads: this.#heads,
      erased: this.#erased,
      closing: this.#closing,
      onClosed: () => this.#leave(),
      onHeard: options.onHeard,
      onLost: (error) => {
        following.failed(error);
        options.onFollowing?.(false);
      },
      onFollowing: () => {
        following.works();
        options.onFollowing?.(true);
      },
    });
    this.#appending = new Outage(options.log, 'appending to the event log');
  }

  /**
   * Connects.
   * @throws Unavailable if no server responds, the server is too old, the URL is invalid, or the credentials are refused;
   * LogClosed if the log was moved or is about to be moved, unless `moving` is set.
   */
  static async open(options: EventStoreDbOptions): Promise<EventStoreDbStore> {
    const store = new EventStoreDbStore(options);
    try {
      await store.#erased.refresh(store.#reader);
      await assertServer(store.#client, options.log);
      await store.#closing.refresh(store.#reader);
      if (options.moving !== true && store.#closing.closed !== undefined) throw store.#closing.closed;
      if (options.onHeard !== undefined) store.#feed.follow();
    } catch (error) {
      await store.close();
      throw error;
    }
    return store;
  }

  async append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<AppendResult> {
    this.#assertOpen();
    const append = new Append(stream, expected, events);
    const onRetry = (error: unknown): void => this.#appending.failed(error);
    // After a failure, it isn't known whether the append was written. When it is resent, the server recognises events that it
    // already has.
    const write = (): Promise<AppendResult> => persist(() => this.#append(append), { stream, onRetry });
    const result = await inTime(this.#answerWithin, this.#track(this.#inTurn(stream, write)));
    this.#appending.works();
    // If the append was written after the marker that closes the log, it is lost, because nobody reads this log any more.
    this.#assertStays();
    this.#feed.expect(result.position);
    this.#options.onBatch?.(1);
    return result;
  }

  async *read(stream: string, options: ReadOptions = {}): AsyncGenerator<RecordedEvent> {
    this.#assertOpen();
    const { direction = 'forwards', limit = Number.POSITIVE_INFINITY } = options;
    let from = options.from === undefined ? undefined : Math.min(options.from, MAX_REVISION);
    for (let left = limit; left > 0; ) {
      const page = await this.#reader.stream({ stream, from, direction, limit: Math.min(left, PAGE_EVENTS) });
      yield* page.events;
      const last = page.events.at(-1);
      if (page.ended || last === undefined) return;
      left -= page.events.length;
      from = last.revision + (direction === 'forwards' ? 1 : -1);
      if (from < 0) return;
    }
  }

  subscribe(options: SubscribeOptions): Observable<Position> {
    return new Observable((subscriber) => {
      if (this.#closed) {
        subscriber.error(closed());
        return undefined;
      }
      const subscription = new Subscription(this.#feed, this.#reader, options, this.#pageBytes);
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

  async head(): Promise<Position> {
    const head = await this.#reader.head();
    this.#feed.reach(head);
    return head;
  }

  reached(): Promise<Position> {
    return this.#reader.reached();
  }

  async erase(stream: string): Promise<void> {
    this.#assertOpen();
    await this.#track(this.#erase(stream));
  }

  async ping(): Promise<void> {
    await this.#reader.reached();
  }

  /**
   * Closes the log to every process that doesn't open it with `moving`. Idempotent.
   * @throws Unavailable
   */
  closeLog(movedTo?: string): Promise<void> {
    return this.#closing.close(this.#reader, this.#appender, movedTo);
  }

  /**
   * Reopens the log to all processes. Idempotent.
   * @throws Unavailable
   */
  reopenLog(): Promise<void> {
    return this.#closing.reopen(this.#reader, this.#appender);
  }

  /** Refuses new appends, waits for appends and handlers in progress, and completes subscriptions. */
  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#feed.close();
    await Promise.allSettled(this.#busy);
    await this.#client.close();
  }

  /** Called when the log was closed while this process was using it. */
  #leave(): void {
    const { closed } = this.#closing;
    if (this.#options.moving === true || this.#left !== undefined || closed === undefined) return;
    this.#left = closed;
    this.#options.onClosed?.(closed);
  }

  /** Makes one attempt to append. */
  async #append(append: Append): Promise<AppendResult> {
    const { stream, base, events, head } = append;
    // The server compares only revisions. Whether the hash matches too is known from events that were already seen; otherwise
    // it is checked here.
    if (!this.#heads.knows(stream, base)) {
      const last = await this.#reader.last(stream);
      if (last === undefined ? append.expected !== 'none' : !this.#heads.knows(stream, base))
        return this.#refuse(append, last);
    }
    try {
      const position = await this.#appender.send({ stream, revision: base.revision, events });
      this.#heads.passed(stream, head.revision);
      return { head, position };
    } catch (error) {
      if (!(error instanceof WrongExpectedVersionError)) throw error;
      return this.#refuse(append, await this.#reader.last(stream));
    }
  }

  #refuse(append: Append, last: RecordedEvent | undefined): Promise<AppendResult> {
    return answerRefused(this.#reader, { append, actual: last?.revision ?? 'none', erased: false });
  }

  /** The stream is erased before its name is stored. If the process dies in between, the erasure is requested again. */
  async #erase(stream: string): Promise<void> {
    try {
      await persist(() => this.#client.tombstone(stream), { stream });
    } catch (error) {
      if (!(error instanceof StreamDeleted)) throw error;
    }
    await this.#erased.add(stream, this.#reader, this.#appender);
    this.#feed.recent.clear();
  }

  /** Runs the appends to a stream one after another, in the order in which they were requested. */
  #inTurn<T>(stream: string, work: () => Promise<T>): Promise<T> {
    const turn = (this.#turns.get(stream) ?? Promise.resolve()).then(work, work);
    this.#turns.set(stream, turn);
    const leave = (): void => {
      if (this.#turns.get(stream) === turn) this.#turns.delete(stream);
    };
    turn.then(leave, leave);
    return turn;
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
    this.#assertStays();
  }

  #assertStays(): void {
    if (this.#left !== undefined) throw new Unavailable('the event log was moved', { cause: this.#left });
  }
}

function closed(): Unavailable {
  return new Unavailable('the event log is closed');
}
