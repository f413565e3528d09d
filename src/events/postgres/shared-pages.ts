/**
 * Gets the events that other processes wrote, once for all subscribers in this process. Processes on this machine hand over
 * their events (`offer`); all other events are read.
 */
import { placeInAppend } from '../batches.ts';
import { later, toNumber } from '../position.ts';
import { BEGINNING, type Position, type RecordedEvent, type WrittenBatch } from '../store.ts';
import type { Pages } from '../subscription.ts';

/** Events of a page. */
const PAGE_EVENTS = 500;
/**
 * If subscribers are further behind than this, for example after startup, each of them reads its own pages from its own
 * position.
 */
const MOST_BEHIND = 5_000;
/** How long the handover of a batch written on this machine may take, in ms, before the batch is read instead. */
const OVERDUE_MS = 20;
/** The maximum number of batches that may be waiting for the batches before them. */
const MOST_OFFERED = 1_000;

/** Dependencies. */
export interface SharedPagesOptions {
  readonly pages: Pages;
  /** Returns the position up to which the subscribers know the log. */
  readonly known: () => Position;
  /** True if several subscribers would read the same page. */
  readonly isShared: () => boolean;
  /** True if other processes on this machine hand over the batches that they write. */
  readonly hasPeers: boolean;
  /** Publishes a batch of whole appends that follows `known`. */
  readonly publish: (batch: WrittenBatch) => void;
  /** Takes note that the log reaches at least this position; subscribers then read the events themselves. */
  readonly reach: (position: Position) => void;
}

/** Collects events from other processes. */
export class SharedPages {
  /** Batches that were handed over too early: the batches before them haven't arrived yet. */
  readonly #offered = new Map<Position, WrittenBatch>();
  #wanted: Position = BEGINNING;
  #reading = false;
  /** Counts erasures. If a stream is erased while a page is being read, the page may contain erased events. */
  #erasures = 0;

  constructor(private readonly options: SharedPagesOptions) {}

  /** Gets all events up to a position that another process has written. */
  hear(position: Position): void {
    if (position <= this.options.known()) return;
    if (!this.options.isShared() || this.#isFar(position)) this.options.reach(position);
    else if (this.options.hasPeers) setTimeout(() => this.#want(position), OVERDUE_MS).unref();
    else this.#want(position);
  }

  /** Accepts a batch from a process on this machine. The batches before it may arrive later. */
  offer(batch: WrittenBatch): void {
    if (batch.position <= this.options.known()) return;
    this.#offered.set(batch.previous, batch);
    if (this.#offered.size > MOST_OFFERED) this.#offered.clear();
    this.#publishOffered();
  }

  /** Discards the batches, and the pages that are being read, because a stream was erased. */
  forget(): void {
    this.#erasures += 1;
    this.#offered.clear();
  }

  /** Publishes the batches that follow the known position. Call this whenever the known position has advanced. */
  #publishOffered(): void {
    const { known, publish } = this.options;
    for (;;) {
      const next = this.#offered.get(known());
      if (next === undefined) break;
      this.#offered.delete(next.previous);
      publish(next);
    }
    for (const [previous] of this.#offered) if (previous < known()) this.#offered.delete(previous);
  }

  #isFar(position: Position): boolean {
    return toNumber(position) - toNumber(this.options.known()) > MOST_BEHIND;
  }

  #want(position: Position): void {
    this.#wanted = later(this.#wanted, position);
    if (!this.#reading) void this.#read();
  }

  async #read(): Promise<void> {
    const { pages, known, publish, reach } = this.options;
    this.#reading = true;
    while (this.#wanted > known()) {
      const [previous, wanted, erasures] = [known(), this.#wanted, this.#erasures];
      const page = await pages.all(previous, PAGE_EVENTS).catch(() => undefined);
      const events = wholeAppends(page?.events ?? []);
      const position = events.at(-1)?.position;
      // Batches that arrived while the page was being read are part of the page, or come before events that the page lacks.
      if (position === undefined || erasures !== this.#erasures || previous !== known()) reach(wanted);
      else publish({ previous, events, position });
      this.#publishOffered();
    }
    this.#reading = false;
  }
}

/** Returns the events up to the last complete append. */
function wholeAppends(events: readonly RecordedEvent[]): readonly RecordedEvent[] {
  const last = events.findLastIndex((event) => {
    const { index, count } = placeInAppend(event);
    return index === count - 1;
  });
  return events.slice(0, last + 1);
}
