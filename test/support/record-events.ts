/** Appends made-up events to a running service's streams, and sets the events' owner. */
import { openEventStore } from '#src/events/open.ts';
import {
  Conflict,
  type EventStore,
  type NewEvent,
  type RecordedEvent,
  type StreamHead,
} from '#src/events/store.ts';
import { recordStream } from '#src/events/streams.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { EVENTSTORE_URL } from './project.ts';

/** Writes to a service's records without its commands. */
export class RecordEvents {
  private constructor(readonly store: EventStore) {}

  /** Opens a service's log. */
  static async open(databaseUrl: string): Promise<RecordEvents> {
    return new RecordEvents(await openEventStore({ url: databaseUrl, eventStoreUrl: EVENTSTORE_URL }));
  }

  /** Appends to an existing record. */
  append(record: string, ...events: NewEvent[]): Promise<void> {
    return this.appendTo(recordStream(record), ...events);
  }

  /** Appends to an existing stream; retries if the service writes to the stream at the same time. */
  async appendTo(stream: string, ...events: NewEvent[]): Promise<void> {
    for (;;) {
      try {
        return await this.#append(stream, events);
      } catch (error) {
        if (!(error instanceof Conflict)) throw error;
      }
    }
  }

  async #append(stream: string, events: readonly NewEvent[]): Promise<void> {
    const last = await this.#last(stream);
    const { hash } = JSON.parse(last.metadata) as { hash: string };
    const head: StreamHead = { revision: last.revision, hash };
    const { owner } = JSON.parse(last.metadata) as { owner: Tenant };
    const own = events.map((event) => ({
      ...event,
      metadata: JSON.stringify({ ...(JSON.parse(event.metadata) as object), owner }),
    }));
    await this.store.append(stream, head, own);
  }

  async #last(stream: string): Promise<RecordedEvent> {
    for await (const event of this.store.read(stream, { direction: 'backwards', limit: 1 })) return event;
    throw new Error(`${stream} has no events`);
  }

  close(): Promise<void> {
    return this.store.close();
  }
}
