/**
 * Cuts a subscription's events into batches that never split an append (shared by the adapters), and keeps the newest ones
 * that this process wrote, so that its subscribers need not read them back.
 */
import { BEGINNING, type Position, type RecordedEvent, type WrittenBatch } from './store.ts';

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
   * @param limit the maximum number of events per batch; only a single larger append exceeds it.
   * @param bytes the approximate maximum size of a batch, in UTF-16 units; exceeded likewise.
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

const MAX_EVENTS = 5_000;
/** In UTF-16 code units. */
const MAX_SIZE = 8_000_000;

/** A bounded cache of the batches written last, in rising order. */
export class RecentBatches {
  #batches: { readonly batch: WrittenBatch; readonly size: number }[] = [];
  #events = 0;
  #size = 0;

  /**
   * Remembers the newest batch and forgets the oldest ones beyond the bounds. A batch that isn't beyond the last one isn't
   * remembered: its events were read before the answer to their append came.
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
   * Returns the events that follow a position without a gap: at least `limit` if they are cached.
   * @returns undefined when the next event isn't cached, or isn't known to be the next.
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

  /** The index of the oldest batch that reaches beyond a position: mostly the last, so it looks from there. */
  #firstAfter(position: Position): number {
    let n = this.#batches.length;
    while (n > 0 && (this.#batches[n - 1]?.batch.position ?? position) > position) n -= 1;
    return n;
  }
}
