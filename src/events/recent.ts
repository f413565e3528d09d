/** The newest batches that this process wrote, so that its subscribers need not read them back. */
import type { Position, RecordedEvent } from './store.ts';

/** A batch with its position: no events lie between `previous` and its first event. */
export interface WrittenBatch {
  readonly previous: Position;
  readonly events: readonly RecordedEvent[];
  /** The position of its last event. */
  readonly position: Position;
}

const MAX_EVENTS = 5_000;
/** In UTF-16 code units. */
const MAX_SIZE = 8_000_000;

/** A bounded cache of the batches written last, in rising order. */
export class RecentBatches {
  #batches: { readonly batch: WrittenBatch; readonly size: number }[] = [];
  #events = 0;
  #size = 0;

  /** Remembers the newest batch and forgets the oldest ones beyond the bounds. */
  add(batch: WrittenBatch): void {
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
