/**
 * Gets the events that other processes wrote, once for all subscribers of this process: processes of this machine hand
 * them over (`offer`), all others are read.
 */
import { placeInAppend } from '../batches.ts';
import { later, toNumber } from '../position.ts';
import { BEGINNING, type Position, type RecordedEvent, type WrittenBatch } from '../store.ts';
import type { Pages } from '../subscription.ts';

/** Events of a page. */
const PAGE_EVENTS = 500;
/** Beyond this distance, as after a start, subscribers read pages of their own, each from where it is. */
const MOST_BEHIND = 5_000;
/** How long a batch that was written on this machine may take to be handed over, in ms, before it is read. */
const OVERDUE_MS = 20;
/** Batches that wait for those before them. */
const MOST_OFFERED = 1_000;

/** Dependencies. */
export interface SharedPagesOptions {
  readonly pages: Pages;
  /** Up to here subscribers know the log. */
  readonly known: () => Position;
  /** True if several subscribers would read the same page. */
  readonly isShared: () => boolean;
  /** True if processes of this machine hand over what they write. */
  readonly hasPeers: boolean;
  /** Hands over a batch of whole appends that follows `known`. */
  readonly publish: (batch: WrittenBatch) => void;
  /** Makes known that the log reaches at least this far: subscribers read it themselves. */
  readonly reach: (position: Position) => void;
}

/** Events of other processes. */
export class SharedPages {
  /** Batches that were handed over before those that they follow. */
  readonly #offered = new Map<Position, WrittenBatch>();
  #wanted: Position = BEGINNING;
  #reading = false;
  /** Counts erasures: a page that was read across one may have events that are gone. */
  #erasures = 0;

  constructor(private readonly options: SharedPagesOptions) {}

  /** Gets all events up to a position that another process has written. */
  hear(position: Position): void {
    if (position <= this.options.known()) return;
    if (!this.options.isShared() || this.#isFar(position)) this.options.reach(position);
    else if (this.options.hasPeers) setTimeout(() => this.#want(position), OVERDUE_MS).unref();
    else this.#want(position);
  }

  /** Takes a batch of a process of this machine. Those that it follows may come later. */
  offer(batch: WrittenBatch): void {
    if (batch.position <= this.options.known()) return;
    this.#offered.set(batch.previous, batch);
    if (this.#offered.size > MOST_OFFERED) this.#offered.clear();
    this.#publishOffered();
  }

  /** Drops pages that are being read, and batches: a stream was erased. */
  forget(): void {
    this.#erasures += 1;
    this.#offered.clear();
  }

  /** Publishes the batches that follow what is known. To be called when that has grown. */
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
      // Batches that came meanwhile lie within the page, or before events that it lacks.
      if (position === undefined || erasures !== this.#erasures || previous !== known()) reach(wanted);
      else publish({ previous, events, position });
      this.#publishOffered();
    }
    this.#reading = false;
  }
}

/** Returns the events up to the last append of which none is missing. */
function wholeAppends(events: readonly RecordedEvent[]): readonly RecordedEvent[] {
  const last = events.findLastIndex((event) => {
    const { index, count } = placeInAppend(event);
    return index === count - 1;
  });
  return events.slice(0, last + 1);
}
