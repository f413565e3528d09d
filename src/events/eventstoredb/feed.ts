/**
 * A live feed of the log, which uses one subscription for all subscribers in the process. After a failure, it resumes at its
 * last event, so that the cached events have no gaps.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { placeInAppend, RecentBatches } from '../batches.ts';
import { BEGINNING, type Position, type RecordedEvent, type WrittenBatch } from '../store.ts';
import { end, type LogClient } from './client.ts';
import type { Closing } from './closing.ts';
import type { ErasedStreams } from './erased.ts';
import type { Heads } from './heads.ts';
import type { Answers } from './library.ts';
import { eventIn, isInternal, subscribeToAll } from './messages.ts';
import { toWire } from './position.ts';
import type { Reader } from './reader.ts';

/** The pause before a broken subscription is restarted, in ms: doubled after each failure, up to `last`. */
const PAUSE = { first: 50, last: 2_000 } as const;
/** How long an append's event may take to arrive, in ms, before subscribers read it from the log. */
const OVERDUE = 50;

/** The dependencies of the feed. */
export interface FeedOptions {
  readonly client: LogClient;
  readonly reader: Reader;
  readonly heads: Heads;
  readonly erased: ErasedStreams;
  readonly closing: Closing;
  /** Called each time a marker has been read that says that the log is closed. */
  readonly onClosed: () => void;
  /** Called each time the subscription fails. */
  readonly onLost: (error: unknown) => void;
  /** Called for each append that arrives. */
  readonly onHeard: ((batch: WrittenBatch) => void) | undefined;
  /** Called when the subscription begins, and each time it is restarted. */
  readonly onFollowing: () => void;
}

/** Notifies any number of listeners of events in the log. */
export class Feed {
  readonly recent = new RecentBatches();
  #known: Position = BEGINNING;
  /** The last event that arrived live, or until then, the newest event when the feed began. The next live event follows it. */
  #last: Position | undefined;
  readonly #listeners = new Set<() => void>();
  /** The events of an incomplete append that have arrived so far. */
  #part: RecordedEvent[] = [];
  #answers: Answers | undefined;
  #running: Promise<void> | undefined;
  readonly #closing = new AbortController();

  constructor(readonly options: FeedOptions) {}

  /** True when the store is closing; no further events will arrive. */
  get closed(): boolean {
    return this.#closing.signal.aborted;
  }

  /** The newest position that this process knows of. Everything up to it can be read. */
  get known(): Position {
    return this.#known;
  }

  /** Calls `wake` whenever there may be more events, until the returned function is called. */
  listen(wake: () => void): () => void {
    this.#listeners.add(wake);
    this.follow();
    return () => {
      this.#listeners.delete(wake);
    };
  }

  /** Follows the log from now on, with or without listeners. */
  follow(): void {
    this.#running ??= this.#run();
  }

  /** Takes note that the log reaches at least this position. */
  reach(position: Position): void {
    if (position <= this.#known) return;
    this.#known = position;
    for (const wake of this.#listeners) wake();
  }

  /** Expects the event of an append by this process to arrive; it may be late. */
  expect(position: Position): void {
    if (this.#listeners.size > 0) setTimeout(() => this.reach(position), OVERDUE).unref();
  }

  /** Wakes all listeners one last time and ends the subscription. */
  async close(): Promise<void> {
    this.#closing.abort();
    if (this.#answers !== undefined) end(this.#answers);
    for (const wake of this.#listeners) wake();
    await this.#running;
  }

  async #run(): Promise<void> {
    for (let pause: number = PAUSE.first; !this.closed; pause = Math.min(pause * 2, PAUSE.last)) {
      try {
        await this.#follow(() => {
          pause = PAUSE.first;
          this.options.onFollowing();
        });
      } catch (error) {
        if (!this.closed) this.options.onLost(error);
      }
      await delay(pause, undefined, { signal: this.#closing.signal }).catch(() => undefined);
    }
  }

  /**
   * Runs one subscription until it breaks.
   * @param begun called when the server has confirmed the subscription.
   */
  async #follow(begun: () => void): Promise<void> {
    const { client, reader, erased, closing } = this.options;
    await erased.refresh(reader);
    await closing.refresh(reader);
    this.#lookClosed();
    const head = await reader.head();
    this.#last ??= head;
    this.#part = [];
    const answers = await client.follow(subscribeToAll(toWire(this.#last)));
    this.#answers = answers;
    this.reach(head);
    if (this.closed) end(answers);
    for await (const answer of answers) {
      if (answer.hasConfirmation()) begun();
      const event = eventIn(answer);
      if (event !== undefined) this.#take(event);
    }
  }

  #take(event: RecordedEvent): void {
    const { erased, heads, closing } = this.options;
    if (erased.notice(event)) this.recent.clear();
    closing.notice(event);
    if (isInternal(event)) return void this.#lookClosed();
    heads.see(event);
    const { index, count } = placeInAppend(event);
    if (index !== this.#part.length) this.#publish();
    this.#part.push(event);
    if (index === count - 1) this.#publish();
  }

  #lookClosed(): void {
    if (this.options.closing.closed !== undefined) this.options.onClosed();
  }

  /** Publishes an append. The only events between it and the previous append are the server's own. */
  #publish(): void {
    const events = this.#part;
    const position = events.at(-1)?.position;
    if (position === undefined) return;
    this.#part = [];
    const batch = { previous: this.#last ?? BEGINNING, events, position };
    this.options.onHeard?.(batch);
    if (this.#listeners.size > 0) this.recent.add(batch);
    else this.recent.clear();
    this.#last = position;
    this.reach(position);
  }
}
