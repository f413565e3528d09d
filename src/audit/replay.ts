/** Parses a stream's events one by one, and checks the hash chain at the same time. */
import type { StoredEvent } from '#src/events/catalog.ts';
import { GENESIS, verifyLink } from '#src/events/chain.ts';
import { understand } from '#src/events/codec.ts';
import type { RecordedEvent, StreamHead } from '#src/events/store.ts';

/** Reads a stream once. */
export class Replay {
  #hash: string | undefined = GENESIS;
  #events = 0;
  #brokenAt: number | undefined;

  /** @param events of one stream, from revision 0 */
  constructor(private readonly recorded: AsyncIterable<RecordedEvent> | Iterable<RecordedEvent>) {}

  /** Events read so far. */
  get events(): number {
    return this.#events;
  }

  /** Returns the first revision with a broken chain; undefined while the chain is intact. */
  get brokenAt(): number | undefined {
    return this.#brokenAt;
  }

  /** Returns the last event that was read; undefined if the chain is broken or nothing was read. */
  get head(): StreamHead | undefined {
    return this.#hash === undefined || this.#events === 0
      ? undefined
      : { revision: this.#events - 1, hash: this.#hash };
  }

  /**
   * Yields the events in order, including events after a break in the chain.
   * @throws UnreadableEvent, NewerEvent
   */
  async *[Symbol.asyncIterator](): AsyncGenerator<StoredEvent> {
    for await (const event of this.recorded) {
      if (this.#hash !== undefined) {
        this.#hash = event.revision === this.#events ? verifyLink(this.#hash, event) : undefined;
        if (this.#hash === undefined) this.#brokenAt = event.revision;
      }
      this.#events += 1;
      yield understand(event);
    }
  }
}
