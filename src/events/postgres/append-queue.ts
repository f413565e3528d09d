/**
 * Group commit without a timer: while the database writes one batch, the next one collects. A single append
 * is sent at once; under load, batches grow until the database keeps up.
 */
import type { Append } from '../append.ts';
import { asUnavailable, isAway, persist } from './faults.ts';
import type { BatchOutcome } from './write-batch.ts';

/** Dependencies of the queue. */
export interface AppendQueueOptions {
  /** Most appends a batch. */
  readonly batchAppends: number;
  /** About the most bytes a batch; one append may exceed it. */
  readonly batchBytes: number;
  /** Writes appends to distinct streams. May have written them even when it rejects. */
  readonly write: (appends: readonly Append[]) => Promise<BatchOutcome>;
  /** Settles the appends of a batch that has been written. */
  readonly settle: (outcome: BatchOutcome) => void;
  /** Told of a failure that is followed by another attempt. */
  readonly onRetry: (error: unknown) => void;
}

/**
 * Up to this many appends are sent together. Of a longer queue, half waits for the next batch: if all were
 * sent, all their callers would continue at the same time, so the database would idle while they prepare
 * their next appends, and they while it writes (measured with 16 clients: 10% more creates per second).
 */
const SMALL_BATCH = 8;

/** The size from which an append isn't written together with others, which would wait for it. */
const LARGE_BYTES = 500_000;

/** Appends that wait, in order. */
export class AppendQueue {
  #waiting: Append[] = [];
  /** Large ones, and those to their streams that came later. */
  readonly #large: Append[] = [];
  /** True if small ones have gone before the first large one. */
  #isLargeDue = false;
  #draining = false;
  #drained: Promise<void> = Promise.resolve();

  constructor(readonly options: AppendQueueOptions) {}

  /** Puts an append in line. It settles through its own promise. */
  add(append: Append): void {
    (this.#isLarge(append) ? this.#large : this.#waiting).push(append);
    if (this.#draining) return;
    this.#draining = true;
    // A microtask later, so that what one tick appends goes together.
    this.#drained = Promise.resolve().then(() => this.#drain());
  }

  /** Tells whether an append waits among the large ones. Those to one stream stay in one queue, and so in order. */
  #isLarge({ bytes, stream }: Append): boolean {
    const isTo = (other: Append): boolean => other.stream === stream;
    return bytes < LARGE_BYTES ? this.#large.some(isTo) : !this.#waiting.some(isTo);
  }

  /** Resolves once nothing waits and nothing is in the database. */
  async idle(): Promise<void> {
    while (this.#draining) await this.#drained;
  }

  async #drain(): Promise<void> {
    while (this.#waiting.length + this.#large.length > 0) await this.#write(this.#next());
    this.#draining = false;
  }

  /**
   * The next batch: at most one append a stream, since the second depends on what becomes of the first, and half of
   * what waits where that is many. A large append is a batch of its own, and goes after one batch of small ones.
   */
  #next(): readonly Append[] {
    const { batchAppends, batchBytes } = this.options;
    const [large] = this.#large;
    if (large !== undefined && (this.#isLargeDue || this.#waiting.length === 0)) {
      this.#isLargeDue = false;
      this.#large.shift();
      return [large];
    }
    this.#isLargeDue = large !== undefined;
    const half = Math.max(SMALL_BATCH, Math.ceil(this.#waiting.length / 2));
    const candidates = this.#waiting.splice(0, Math.min(batchAppends, half));
    const streams = new Set<string>();
    const batch: Append[] = [];
    const later: Append[] = [];
    let bytes = 0;
    for (const append of candidates) {
      if (streams.has(append.stream) || (batch.length > 0 && bytes + append.bytes > batchBytes)) {
        later.push(append);
      } else {
        batch.push(append);
        bytes += append.bytes;
      }
      streams.add(append.stream);
    }
    if (later.length > 0) this.#waiting = later.concat(this.#waiting);
    return batch;
  }

  async #write(batch: readonly Append[]): Promise<void> {
    const { write, settle, onRetry } = this.options;
    let outcome: BatchOutcome;
    try {
      // After a broken connection it is unknown whether the batch was written. When it is sent again, appends
      // that were written are recognised.
      outcome = await persist(() => write(batch), onRetry);
    } catch (error) {
      if (isAway(error)) {
        // Other waiting appends would wait just as long.
        for (const append of [...batch, ...this.#waiting.splice(0), ...this.#large.splice(0)])
          append.reject(asUnavailable(error));
      } else if (batch.length > 1) {
        // Something in one of them: alone, it fails alone.
        for (const append of batch) await this.#write([append]);
      } else {
        for (const append of batch) append.reject(error);
      }
      return;
    }
    settle(outcome);
  }
}
