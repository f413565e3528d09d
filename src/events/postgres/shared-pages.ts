/** Reads events that other processes wrote once for all subscribers of this process. */
import { placeInAppend, type WrittenBatch } from '../batches.ts';
import { later, toNumber } from '../position.ts';
import { BEGINNING, type Position, type RecordedEvent } from '../store.ts';
import type { Pages } from '../subscription.ts';

/** Events of a page. */
const PAGE_EVENTS = 500;
/** Beyond this distance, as after a start, subscribers read pages of their own, each from where it is. */
const MOST_BEHIND = 5_000;

/** Dependencies. */
export interface SharedPagesOptions {
  readonly pages: Pages;
  /** Up to here subscribers know the log. */
  readonly known: () => Position;
  /** True if several subscribers would read the same page. */
  readonly isShared: () => boolean;
  /** Hands over a batch of whole appends that follows `known`. */
  readonly publish: (batch: WrittenBatch) => void;
  /** Makes known that the log reaches at least this far: subscribers read it themselves. */
  readonly reach: (position: Position) => void;
}

/** Pages of other processes' events. */
export class SharedPages {
  #wanted: Position = BEGINNING;
  #reading = false;
  /** Counts erasures: a page that was read across one may have events that are gone. */
  #erasures = 0;

  constructor(private readonly options: SharedPagesOptions) {}

  /** Reads up to a position that another process has written. */
  hear(position: Position): void {
    this.#wanted = later(this.#wanted, position);
    if (!this.options.isShared() || this.#isFar(position)) this.options.reach(position);
    else if (!this.#reading) void this.#read();
  }

  /** Drops the page that is being read: a stream was erased. */
  forget(): void {
    this.#erasures += 1;
  }

  #isFar(position: Position): boolean {
    return toNumber(position) - toNumber(this.options.known()) > MOST_BEHIND;
  }

  async #read(): Promise<void> {
    const { pages, known, publish, reach } = this.options;
    this.#reading = true;
    while (this.#wanted > known()) {
      const [previous, wanted, erasures] = [known(), this.#wanted, this.#erasures];
      const page = await pages.all(previous, PAGE_EVENTS).catch(() => undefined);
      const events = wholeAppends(page?.events ?? []);
      const position = events.at(-1)?.position;
      // A batch of this process that was published meanwhile lies within the page, or before events that it lacks.
      if (position === undefined || erasures !== this.#erasures || previous !== known()) reach(wanted);
      else publish({ previous, events, position });
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
