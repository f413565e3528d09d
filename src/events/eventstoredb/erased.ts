/**
 * Keeps the names of erased streams. Until a scavenge, the server still returns the events of tombstoned streams when all
 * streams are read. The names are stored in a stream of their own, so that every process knows which events to leave out.
 */
import { newUuid } from '../../shared/ids.ts';
import type { RecordedEvent } from '../store.ts';
import type { Appender } from './appender.ts';
import { persist } from './faults.ts';
import { ERASED_STREAM, TOMBSTONE } from './messages.ts';
import type { Reader } from './reader.ts';

const PAGE_EVENTS = 4_000;

/** The names that this process has read. */
export class ErasedStreams {
  /**
   * Maps each name to whether it is stored for every process. A name that this process knows only from a tombstone may not be
   * stored.
   */
  readonly #names = new Map<string, boolean>();
  /** The next revision to read in the stream of names. */
  #next = 0;
  #refreshed: Promise<void> = Promise.resolve();

  /** Returns true if a stream was erased. */
  has(stream: string): boolean {
    return this.#names.has(stream);
  }

  /** Reads the names that were added since the last time. Reads never overlap. */
  refresh(reader: Reader): Promise<void> {
    const look = () => this.#look(reader);
    this.#refreshed = this.#refreshed.then(look, look);
    return this.#refreshed;
  }

  async #look(reader: Reader): Promise<void> {
    for (let ended = false; !ended; ) {
      const page = await reader.stream({
        stream: ERASED_STREAM,
        from: this.#next,
        direction: 'forwards',
        limit: PAGE_EVENTS,
      });
      for (const event of page.events) this.notice(event);
      this.#next = (page.events.at(-1)?.revision ?? this.#next - 1) + 1;
      ended = page.ended;
    }
  }

  /** Stores a name for every process, unless it is already stored. */
  async add(stream: string, reader: Reader, appender: Appender): Promise<void> {
    await this.refresh(reader);
    if (this.#names.get(stream) === true) return;
    const event = { id: newUuid(), type: 'StreamErased', data: JSON.stringify({ stream }), metadata: '{}' };
    await persist(() => appender.send({ stream: ERASED_STREAM, revision: undefined, events: [event] }));
    this.#names.set(stream, true);
  }

  /**
   * Takes note of the name if an event says that a stream was erased.
   * @returns whether the event says so
   */
  notice({ stream, type, data }: RecordedEvent): boolean {
    if (type === TOMBSTONE) this.#names.set(stream, this.#names.get(stream) ?? false);
    else if (stream === ERASED_STREAM) this.#names.set((JSON.parse(data) as { stream: string }).stream, true);
    else return false;
    return true;
  }
}
