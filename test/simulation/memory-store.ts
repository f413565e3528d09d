/**
 * Implements the event store port on a log in memory. It differs from `src/events/postgres/store.ts` only in how it reaches
 * the database. The append queue with its checks and seals, subscriptions and shared pages are the service's own.
 */
import { Observable } from 'rxjs';
import { Append, MAX_REVISION } from '#src/events/append.ts';
import { RecentBatches } from '#src/events/batches.ts';
import { later } from '#src/events/position.ts';
import { AppendQueue, type BatchOutcome } from '#src/events/postgres/append-queue.ts';
import { DEFAULTS } from '#src/events/postgres/options.ts';
import { persist } from '#src/events/postgres/session.ts';
import { SharedPages } from '#src/events/postgres/shared-pages.ts';
import { answerRefused } from '#src/events/refusal.ts';
import {
  type AppendResult,
  BEGINNING,
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
} from '#src/events/store.ts';
import { type News, Subscription } from '#src/events/subscription.ts';
import type { MemoryLog, Notice } from './memory-log.ts';

/** How a store reaches its log. */
export interface MemoryStoreOptions {
  readonly log: MemoryLog;
  /**
   * Runs a transaction on the log. The transaction may have run even if the promise is rejected. By default, runs it soon and
   * without faults.
   */
  readonly ask?: <T>(transaction: () => T) => Promise<T>;
  /** Passes on the log's notices; by default, immediately. */
  readonly hear?: (notice: Notice, tell: (notice: Notice) => void) => void;
  /** Returns the maximum number of events on the next page; 500 by default. */
  readonly pageEvents?: () => number;
  /** Called with each written batch. */
  readonly onWritten?: (batch: WrittenBatch) => void;
  /** True if other processes on the machine pass on what they write. */
  readonly hasPeers?: boolean;
}

/** A store in memory. */
export class MemoryEventStore implements EventStore {
  readonly #ask: <T>(transaction: () => T) => Promise<T>;
  readonly #queue: AppendQueue;
  readonly #news: MemoryNews;
  readonly #busy = new Set<Promise<unknown>>();
  #closed = false;

  constructor(private readonly options: MemoryStoreOptions) {
    const { log, ask = async (transaction) => transaction(), hasPeers = false } = options;
    this.#ask = (transaction) => persist(() => ask(transaction));
    const pages = { all: this.#page.bind(this) };
    this.#news = new MemoryNews(pages, hasPeers, () => this.#ask(() => log.head()));
    const tell = (notice: Notice): void => this.#news.notified(notice);
    const { hear = (notice) => tell(notice) } = options;
    this.#news.unlisten = log.listen(this, (notice) => hear(notice, tell));
    this.#queue = new AppendQueue({
      batchAppends: DEFAULTS.batchAppends,
      batchBytes: DEFAULTS.batchBytes,
      write: (appends) => ask(() => log.append(this, appends)),
      settle: (outcome) => this.#settle(outcome),
      onRetry: () => undefined,
    });
  }

  async append(stream: string, expected: Expected, events: readonly NewEvent[]): Promise<AppendResult> {
    this.#assertOpen();
    const append = new Append(stream, expected, events);
    this.#queue.add(append);
    return append.result;
  }

  async *read(stream: string, options: ReadOptions = {}): AsyncGenerator<RecordedEvent> {
    this.#assertOpen();
    const { log, pageEvents = () => 500 } = this.options;
    const { direction = 'forwards', limit = Number.POSITIVE_INFINITY } = options;
    let from = Math.min(options.from ?? (direction === 'forwards' ? 0 : MAX_REVISION), MAX_REVISION);
    for (let left = limit; left > 0; ) {
      const most = Math.min(left, pageEvents());
      const page = await this.#ask(() => log.stream({ stream, from, direction, limit: most }));
      const last = page.at(-1);
      if (last === undefined) {
        if (await this.#ask(() => log.isErased(stream))) throw new StreamDeleted(stream);
        return;
      }
      yield* page;
      if (page.length < most) return;
      left -= page.length;
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
      const pages = { all: this.#page.bind(this) };
      const subscription = new Subscription(this.#news, pages, options, DEFAULTS.batchBytes);
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

  receive(batch: WrittenBatch): void {
    this.#news.shared.offer(batch);
  }

  head(): Promise<Position> {
    return this.#ask(() => this.options.log.head());
  }

  reached(): Promise<Position> {
    return this.#ask(() => this.options.log.reached());
  }

  async erase(stream: string): Promise<void> {
    this.#assertOpen();
    await this.#ask(() => this.options.log.erase(this, stream));
    this.#news.notified('erased');
  }

  async ping(): Promise<void> {
    await this.#ask(() => undefined);
  }

  async close(): Promise<void> {
    this.#closed = true;
    await this.#queue.idle();
    this.#news.close();
    await Promise.allSettled(this.#busy);
  }

  #page(after: Position, limit: number, prefixes?: readonly string[]) {
    const { log, pageEvents = () => 500 } = this.options;
    const most = Math.min(limit, pageEvents());
    return this.#ask(() => log.all(after, most, DEFAULTS.batchBytes, prefixes));
  }

  /** Settles appends in the same way as `PostgresEventStore`. */
  #settle({ previous, outcomes }: BatchOutcome): void {
    const { log, onWritten } = this.options;
    const written = outcomes.flatMap((outcome) => (outcome.written ? [outcome] : []));
    const events = written.flatMap(({ append: { stream, events }, positions }) =>
      events.map((event, n) => ({ stream, position: positions[n] ?? BEGINNING, ...event })),
    );
    const position = events.at(-1)?.position;
    if (position !== undefined) {
      this.#news.publish({ previous, events, position });
      onWritten?.({ previous, events, position });
    }
    for (const { append, positions } of written)
      append.resolve({ head: append.head, position: positions.at(-1) ?? BEGINNING });
    const identities = {
      identities: (...asked: Parameters<MemoryLog['identities']>) =>
        this.#ask(() => log.identities(...asked)),
    };
    for (const outcome of outcomes) {
      if (outcome.written) continue;
      const { append } = outcome;
      const resolve = (result: AppendResult): void => {
        this.#news.reach(result.position);
        append.resolve(result);
      };
      this.#track(answerRefused(identities, outcome).then(resolve, append.reject));
    }
  }

  #track(work: Promise<unknown>): void {
    const settled = work.then(
      () => undefined,
      () => undefined,
    );
    this.#busy.add(settled);
    void settled.then(() => this.#busy.delete(settled));
  }

  #assertOpen(): void {
    if (this.#closed) throw closed();
  }
}

const closed = (): Unavailable => new Unavailable('the event log is closed');

/**
 * News about the log: from this process immediately, from other processes when their notices arrive, and from checks of the
 * log's head.
 */
class MemoryNews implements News {
  readonly recent = new RecentBatches();
  readonly shared: SharedPages;
  readonly #listeners = new Set<() => void>();
  known: Position = BEGINNING;
  closed = false;
  unlisten: () => void = () => undefined;
  #timer: NodeJS.Timeout | undefined;

  constructor(
    pages: ConstructorParameters<typeof SharedPages>[0]['pages'],
    hasPeers: boolean,
    private readonly head: () => Promise<Position>,
  ) {
    this.shared = new SharedPages({
      pages,
      hasPeers,
      known: () => this.known,
      isShared: () => this.#listeners.size > 1,
      publish: (batch) => this.publish(batch),
      reach: (position) => this.reach(position),
    });
  }

  listen(wake: () => void): () => void {
    this.#listeners.add(wake);
    this.#timer ??= setInterval(() => void this.#look(), DEFAULTS.recheckEvery).unref();
    void this.#look();
    return () => {
      this.#listeners.delete(wake);
    };
  }

  publish(batch: WrittenBatch): void {
    if (this.#listeners.size > 0) this.recent.add(batch);
    else this.recent.clear();
    this.reach(batch.position);
  }

  reach(position: Position): void {
    if (later(this.known, position) === this.known) return;
    this.known = position;
    for (const wake of this.#listeners) wake();
  }

  notified(notice: Notice): void {
    if (notice !== 'erased') this.shared.hear(notice);
    else {
      this.shared.forget();
      this.recent.clear();
    }
  }

  close(): void {
    this.closed = true;
    clearInterval(this.#timer);
    this.unlisten();
    for (const wake of this.#listeners) wake();
  }

  async #look(): Promise<void> {
    if (!this.closed)
      await this.head().then(
        (head) => this.shared.hear(head),
        () => undefined,
      );
  }
}
