/**
 * The names of erased streams. Until it is scavenged, the server goes on delivering what a tombstoned stream held
 * among all events; the names are kept in a stream, so that every process knows what not to pass on.
 */
import { newUuid } from '../../shared/ids.ts';
import type { RecordedEvent } from '../store.ts';
import type { Appender } from './appender.ts';
import { persist } from './faults.ts';
import { ERASED_STREAM, TOMBSTONE } from './messages.ts';
import type { Reader } from './reader.ts';

const PAGE_EVENTS = 4_000;

/** The names that this process knows of. */
export class ErasedStreams {
  readonly #names = new Set<string>();
  /** Events of the stream of names that were read. */
  #read = 0;

  /** Whether a stream was erased. */
  has(stream: string): boolean {
    return this.#names.has(stream);
  }

  /** Reads the names that were added since. */
  async refresh(reader: Reader): Promise<void> {
    for (let ended = false; !ended; ) {
      const page = await reader.stream({
        stream: ERASED_STREAM,
        from: this.#read,
        direction: 'forwards',
        limit: PAGE_EVENTS,
      });
      for (const event of page.events) this.notice(event);
      this.#read += page.events.length;
      ended = page.ended;
    }
  }

  /** Adds a name for every process. */
  async add(stream: string, appender: Appender): Promise<void> {
    const event = { id: newUuid(), type: 'StreamErased', data: JSON.stringify({ stream }), metadata: '{}' };
    await persist(() => appender.send({ stream: ERASED_STREAM, revision: undefined, events: [event] }));
    this.#names.add(stream);
  }

  /** Notes a name from an event that says it. @returns whether the event is one of those */
  notice({ stream, type, data }: RecordedEvent): boolean {
    if (type === TOMBSTONE) this.#names.add(stream);
    else if (stream === ERASED_STREAM) this.#names.add((JSON.parse(data) as { stream: string }).stream);
    else return false;
    return true;
  }
}
