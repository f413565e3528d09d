/**
 * Splits a subscription's events into batches without splitting appends; both adapters use this. Also keeps the newest batches
 * that this process wrote, so that its subscribers needn't read them back.
 */
import { BEGINNING, type Position, type RecordedEvent, type WrittenBatch } from './store.ts';

// Inside a JSON string, every quote is escaped, so this text can't be part of a value.
const APPEND = /"append":\[(\d+),(\d+)\]/;

/**
 * Returns an event's index in its append and the append's length. An event whose metadata lacks these is an append by itself.
 */
export function placeInAppend(event: Pick<RecordedEvent, 'metadata'>): { index: number; count: number } {
  const found = APPEND.exec(event.metadata);
  return found === null ? { index: 0, count: 1 } : { index: Number(found[1]), count: Number(found[2]) };
}

/**
 * Splits an ordered stream of events into batches of whole appends. The events of an append are adjacent in the total order,
 * and a filter on streams passes either all of them or none.
 */
export class BatchCutter {
  #events: RecordedEvent[] = [];

  /**
   * @param limit the maximum number of events per batch; exceeded only by a single append that is larger.
   * @param bytes the approximate maximum size of a batch, in UTF-16 units; may be exceeded in the same way.
   */
  constructor(
    readonly limit: number,
    readonly bytes: number,
  ) {}

  /** True if no events are left. */
  get empty(): boolean {
    return this.#events.length === 0;
  }

  /** True if the next batch can be completed without further events. */
  get ready(): boolean {
    return this.#end(false) !== undefined;
  }

  /** Adds the events that follow. */
  push(events: readonly RecordedEvent[]): void {
    this.#events = this.#events.length === 0 ? events.slice() : this.#events.concat(events);
  }

  /**
   * Takes the next batch.
   * @param ended true if no further events are available now, in which case the batch needn't be full.
   * @returns undefined while further events are needed.
   */
  take(ended: boolean): readonly RecordedEvent[] | undefined {
    const end = this.#end(ended);
    if (end === undefined) return undefined;
    const batch = this.#events.slice(0, end);
    this.#events = this.#events.slice(end);
    return batch;
  }

  /** Returns the number of events in the next batch. */
  #end(ended: boolean): number | undefined {
    const available = this.#events.length;
    const fitting = this.#fitting();
    const last = this.#events[fitting - 1];
    if (last === undefined) return undefined;
    if (fitting === available && fitting < this.limit && !ended) return undefined;
    const { index, count } = placeInAppend(last);
    const start = fitting - 1 - index;
    if (index === count - 1) return fitting;
    if (start > 0) return start;
    const end = start + count;
    if (end <= available) return end;
    return ended ? available : undefined;
  }

  /** Returns how many events, counted from the beginning, stay within both limits; at least one if there are any events. */
  #fitting(): number {
    const most = Math.min(this.limit, this.#events.length);
    let bytes = 0;
    for (let n = 0; n < most; n += 1) {
      const event = this.#events[n];
      bytes += (event?.data.length ?? 0) + (event?.metadata.length ?? 0);
      if (bytes > this.bytes && n > 0) return n;
    }
    return most;
  }
}

const MAX_EVENTS = 5_000;
/** In UTF-16 code units. */
const MAX_SIZE = 8_000_000;

/** A bounded cache of the most recently written batches, in ascending order. */
export class RecentBatches {
  #batches: { readonly batch: WrittenBatch; readonly size: number }[] = [];
  #events = 0;
  #size = 0;

  /**
   * Adds the newest batch, and removes the oldest batches that exceed the limits. A batch that doesn't come after the last one
   * isn't added: its events were read before its append was acknowledged.
   */
  add(batch: WrittenBatch): void {
    if (batch.position <= (this.#batches.at(-1)?.batch.position ?? BEGINNING)) return;
    const size = batch.events.reduce((sum, { data, metadata }) => sum + data.length + metadata.length, 0);
    this.#batches.push({ batch, size });
    this.#events += batch.events.length;
    this.#size += size;
    while (this.#batches.length > 1 && (this.#events > MAX_EVENTS || this.#size > MAX_SIZE)) {
      const oldest = this.#batches.shift();
      this.#events -= oldest?.batch.events.length ?? 0;
      this.#size -= oldest?.size ?? 0;
    }
  }

  /**
   * Returns the events that follow a position without a gap: at least `limit` events if that many are cached.
   * @returns undefined if the next event isn't cached, or isn't known to be the next.
   */
  after(position: Position, limit: number): { events: RecordedEvent[]; position: Position } | undefined {
    const events: RecordedEvent[] = [];
    let reached = position;
    for (let n = this.#firstAfter(position); n < this.#batches.length && events.length < limit; n += 1) {
      const batch = this.#batches[n]?.batch;
      if (batch === undefined || batch.previous > reached) break;
      for (const event of batch.events) if (event.position > reached) events.push(event);
      reached = batch.position;
    }
    return reached === position ? undefined : { events, position: reached };
  }

  /** Forgets everything. */
  clear(): void {
    this.#batches = [];
    this.#events = 0;
    this.#size = 0;
  }

  /**
   * Returns the index of the oldest batch that ends after a position. This is usually the last batch, so the search starts
   * there.
   */
  #firstAfter(position: Position): number {
    let n = this.#batches.length;
    while (n > 0 && (this.#batches[n - 1]?.batch.position ?? position) > position) n -= 1;
    return n;
  }
}
