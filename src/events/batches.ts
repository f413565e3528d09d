/** Cuts a subscription's events into batches that never split an append (shared by the adapters). */
import type { RecordedEvent } from './store.ts';

// Inside a JSON string every quote is escaped, so this text cannot be part of a value.
const APPEND = /"append":\[(\d+),(\d+)\]/;

/**
 * Returns the index of an event in its append and the append's length; an event without these is its own
 * append.
 */
export function placeInAppend(event: Pick<RecordedEvent, 'metadata'>): { index: number; count: number } {
  const found = APPEND.exec(event.metadata);
  return found === null ? { index: 0, count: 1 } : { index: Number(found[1]), count: Number(found[2]) };
}

/**
 * Cuts an ordered flow of events into batches that hold whole appends. The events of an append follow each other
 * in the total order, and a filter on streams lets all of them through or none.
 */
export class BatchCutter {
  #events: RecordedEvent[] = [];

  /**
   * @param limit most events a batch; exceeded only by a single append that is larger.
   * @param bytes about the most bytes a batch, counted in UTF-16 units; exceeded likewise.
   */
  constructor(
    readonly limit: number,
    readonly bytes: number,
  ) {}

  /** True if no events are left. */
  get empty(): boolean {
    return this.#events.length === 0;
  }

  /** True if the next batch can be cut without further events. */
  get ready(): boolean {
    return this.#end(false) !== undefined;
  }

  /** Adds the events that follow. */
  push(events: readonly RecordedEvent[]): void {
    this.#events = this.#events.length === 0 ? events.slice() : this.#events.concat(events);
  }

  /**
   * Takes the next batch.
   * @param ended no further events are available now, so a batch may be less than full.
   * @returns undefined while further events are needed.
   */
  take(ended: boolean): readonly RecordedEvent[] | undefined {
    const end = this.#end(ended);
    if (end === undefined) return undefined;
    const batch = this.#events.slice(0, end);
    this.#events = this.#events.slice(end);
    return batch;
  }

  /** Returns how many events the next batch has. */
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

  /** Returns how many leading events stay within both limits; at least one if there is any. */
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
