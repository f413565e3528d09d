/**
 * Notifies subscribers of new events. It learns of this process's own commits immediately and of other processes' commits
 * through NOTIFY; it also polls the log's head, in case a notification was missed.
 */

import { RecentBatches } from '../batches.ts';
import { toPosition } from '../position.ts';
import { BEGINNING, type Position, type WrittenBatch } from '../store.ts';
import type { Pages } from '../subscription.ts';
import { CHANNEL } from './schema.ts';
import { Session, type SessionOptions } from './session.ts';
import { SharedPages } from './shared-pages.ts';

/** The pause before a lost connection for notifications is reopened, in ms. */
const RECONNECT_AFTER = 200;

/** The dependencies of the feed. */
export interface FeedOptions extends Pick<SessionOptions, 'url' | 'name' | 'answerWithin'> {
  /** The interval at which the head is polled, in ms. */
  readonly recheckEvery: number;
  readonly head: () => Promise<Position>;
  /** Reads the events that other processes wrote. */
  readonly pages: Pages;
  /** The server process through which this store writes; its notifications contain nothing new. */
  readonly writer: () => number | undefined;
  readonly onLost: (error: unknown) => void;
  /**
   * True if other processes on this machine hand over the batches that they write; if not, the batches are read immediately.
   */
  readonly hasPeers: boolean;
}

/** Notifies any number of listeners of events in the log. */
export class Feed {
  readonly recent = new RecentBatches();
  #known: Position = BEGINNING;
  readonly #listeners = new Set<() => void>();
  readonly #session: Session;
  readonly #shared: SharedPages;
  #timer: NodeJS.Timeout | undefined;
  /** True if a poll was requested but hasn't begun yet. */
  #due = false;
  #checking = false;
  #retry: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(readonly options: FeedOptions) {
    this.#session = new Session({
      url: options.url,
      name: options.name,
      answerWithin: options.answerWithin,
      setup: `LISTEN ${CHANNEL}`,
      onNotification: (payload, backend) => this.#notified(payload, backend),
      onLost: (error) => {
        options.onLost(error);
        void this.check();
      },
    });
    this.#shared = new SharedPages({
      pages: options.pages,
      known: () => this.#known,
      isShared: () => this.#listeners.size > 1,
      hasPeers: options.hasPeers,
      publish: (batch) => this.publish(batch),
      reach: (position) => this.reach(position),
    });
  }

  /** True when the store is closing; no further notifications will arrive. */
  get closed(): boolean {
    return this.#closed;
  }

  /** The newest position that this process knows of. Everything up to it can be read. */
  get known(): Position {
    return this.#known;
  }

  /** Calls `wake` whenever there may be more events, until the returned function is called. */
  listen(wake: () => void): () => void {
    this.#listeners.add(wake);
    this.#timer ??= setInterval(() => void this.check(), this.options.recheckEvery).unref();
    void this.check();
    return () => {
      this.#listeners.delete(wake);
    };
  }

  /** Accepts a batch written by another process on this machine. */
  receive(batch: WrittenBatch): void {
    this.#shared.offer(batch);
  }

  /** Publishes a batch that was just committed. */
  publish(batch: WrittenBatch): void {
    if (this.#listeners.size > 0) this.recent.add(batch);
    else this.recent.clear();
    this.reach(batch.position);
  }

  /** Takes note that the log reaches at least this position. */
  reach(position: Position): void {
    if (position <= this.#known) return;
    this.#known = position;
    for (const wake of this.#listeners) wake();
  }

  /** Discards the cached batches, because a stream was erased. */
  forget(): void {
    this.#shared.forget();
    this.recent.clear();
  }

  /** Ensures that notifications arrive, then checks the head for missed ones. */
  async check(): Promise<void> {
    this.#due = true;
    if (this.#checking) return;
    this.#checking = true;
    while (this.#due && !this.#closed) {
      this.#due = false;
      try {
        await this.#session.connect();
        this.#shared.hear(await this.options.head());
      } catch {
        // The server is unreachable, so no notifications arrive until it is back.
        clearTimeout(this.#retry);
        this.#retry = setTimeout(() => void this.check(), RECONNECT_AFTER).unref();
      }
    }
    this.#checking = false;
  }

  /** Wakes all listeners one last time and closes the connection. */
  async close(): Promise<void> {
    this.#closed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#retry);
    for (const wake of this.#listeners) wake();
    await this.#session.end();
  }

  #notified(payload: string, backend: number): void {
    if (payload === 'erased') this.forget();
    // This process's own batches are published by the append itself, from memory, which is faster.
    else if (backend !== this.options.writer()) this.#shared.hear(toPosition(payload));
  }
}
