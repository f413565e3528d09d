/** A subscription. It reads pages from the store until it has caught up, then follows the feed. */

import type { RecentBatches } from './batches.ts';
import { BatchCutter } from './batches.ts';
import { later } from './position.ts';
import type { Position, RecordedEvent, SubscribeOptions } from './store.ts';

/** A section of the total order. */
export interface Page {
  readonly events: readonly RecordedEvent[];
  /** All events up to this position are in `events` or were filtered out. */
  readonly position: Position;
  /** True if the page reached the end that the log had at that time. */
  readonly ended: boolean;
}

/** The number of events per batch, unless the subscriber sets another number. */
const BATCH_SIZE = 500;

/** After this many pages in which no event passed the filter, the subscriber gets an empty batch with the position. */
const SILENT_PAGES = 20;

/** Notifies a subscriber of new events (`feed.ts` of either adapter). */
export interface News {
  /** True if no further notifications will arrive. */
  readonly closed: boolean;
  /** All events up to this position can be read. */
  readonly known: Position;
  readonly recent: Pick<RecentBatches, 'after'>;
  /** Calls `wake` whenever there may be more events, until the returned function is called. */
  listen(wake: () => void): () => void;
}

/** Reads the events that the feed didn't deliver (`reader.ts` of either adapter). */
export interface Pages {
  /** Reads the next `limit` events in all streams, and returns the events whose streams start with one of the prefixes. */
  all(after: Position, limit: number, prefixes?: readonly string[]): Promise<Page>;
}

/** One subscriber's run over the log. */
export class Subscription {
  readonly #cutter: BatchCutter;
  readonly #limit: number;
  /** The position up to which everything has been delivered. */
  #delivered: Position;
  /** The position up to which everything has been delivered or is in the cutter. */
  #fetched: Position;
  /** True if, when the cutter was last filled, it reached the end of the log. */
  #ended = false;
  /** The next page, which is being read while a batch is handled. */
  #ahead: Promise<Page> | undefined;
  /** The number of pages read since the last delivery. */
  #pages = 0;
  #stopped = false;
  #wake: () => void = () => undefined;

  constructor(
    private readonly feed: News,
    private readonly reader: Pages,
    private readonly options: SubscribeOptions,
    batchBytes: number,
  ) {
    this.#limit = options.batchSize ?? BATCH_SIZE;
    this.#cutter = new BatchCutter(this.#limit, batchBytes);
    this.#delivered = options.after;
    this.#fetched = options.after;
  }

  /**
   * Delivers events until it is stopped or the store closes.
   * @param handled called with each position after the batch up to that position was handled.
   * @throws errors from `handle`, or Unavailable.
   */
  async run(handled: (position: Position) => void): Promise<void> {
    const unlisten = this.feed.listen(() => this.#wake());
    try {
      while (!this.#over) {
        const events = this.#next();
        if (events === undefined) {
          await this.#fill();
          continue;
        }
        if (!this.#ended && !this.#cutter.ready) this.#readAhead();
        const position = this.#cutter.empty ? this.#fetched : (events.at(-1)?.position ?? this.#fetched);
        await this.options.handle({ events, position });
        this.#delivered = position;
        this.#pages = 0;
        handled(position);
      }
    } finally {
      unlisten();
    }
  }

  /** Stops the run after the batch that is being handled. */
  stop(): void {
    this.#stopped = true;
    this.#wake();
  }

  get #over(): boolean {
    return this.#stopped || this.feed.closed;
  }

  /** Returns the next batch; it is empty if everything was filtered out. */
  #next(): readonly RecordedEvent[] | undefined {
    if (!this.#cutter.empty) return this.#cutter.take(this.#ended);
    const told = this.#ended || this.#pages >= SILENT_PAGES;
    return told && this.#fetched > this.#delivered ? [] : undefined;
  }

  /** Reads the next events; waits if there are none. */
  async #fill(): Promise<void> {
    if (this.#ended) {
      const recent = this.feed.recent.after(this.#fetched, this.#limit);
      if (recent !== undefined) {
        this.#cutter.push(recent.events.filter(({ stream }) => this.#wants(stream)));
        this.#fetched = recent.position;
        return;
      }
      if (this.#fetched >= this.feed.known) {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        return;
      }
    }
    const page = await (this.#ahead ?? this.#page());
    this.#ahead = undefined;
    this.#cutter.push(page.events);
    this.#fetched = page.position;
    this.#ended = page.ended;
    this.#pages += 1;
  }

  /**
   * Reads the next page. At the end of the log, the page also covers events that were erased between its last event and the
   * head.
   */
  async #page(): Promise<Page> {
    const { known } = this.feed;
    const page = await this.reader.all(this.#fetched, this.#limit, this.options.prefixes);
    return page.ended ? { ...page, position: later(page.position, known) } : page;
  }

  #readAhead(): void {
    this.#ahead ??= this.#page();
    // Awaited only after the handler. Until then, a rejection must not be reported as unhandled.
    this.#ahead.catch(() => undefined);
  }

  #wants(stream: string): boolean {
    return this.options.prefixes?.some((prefix) => stream.startsWith(prefix)) ?? true;
  }
}
