/**
 * Finds an event in a stream by its time, and checks its link in the hash chain. Takes only a few reads, even in a long
 * stream.
 */
import { GENESIS, readHash, verifyLink } from '#src/events/chain.ts';
import { parseMetadata } from '#src/events/metadata.ts';
import type { EventStore, RecordedEvent } from '#src/events/store.ts';
import { type Micros, toMicros } from '#src/shared/time/time.ts';

/** An event with its link in the chain. */
export interface LinkedEvent {
  readonly event: RecordedEvent;
  /** The previous event's hash; 64 zeros if this is the first event. */
  readonly previous: string;
  /** The event's own hash, as stored; undefined if it has none. */
  readonly hash: string | undefined;
  /** True if the hash of the event's text and the previous hash equals the stored hash. */
  readonly holds: boolean;
}

type Reads = Pick<EventStore, 'read'>;

/**
 * Finds an event. Times in a stream strictly increase, so its revision is found by binary search. If that finds nothing,
 * because the event was altered, the whole stream is searched for its id.
 * @param at when the event was recorded, in microseconds
 * @returns undefined if the event isn't in the stream
 * @throws StreamDeleted
 */
export async function findEvent(
  store: Reads,
  stream: string,
  at: Micros,
  id: string,
): Promise<LinkedEvent | undefined> {
  const found = await halve(store, stream, at);
  if (found?.id === id) return checkLink(store, found);
  for await (const event of store.read(stream)) if (event.id === id) return checkLink(store, event);
  return undefined;
}

/** Returns the event in a stream that was recorded at the given time. */
async function halve(store: Reads, stream: string, at: Micros): Promise<RecordedEvent | undefined> {
  const head = await first(store.read(stream, { direction: 'backwards', limit: 1 }));
  let low = 0;
  let high = head?.revision ?? -1;
  while (low <= high) {
    const middle = Math.floor((low + high) / 2);
    const event = await eventAt(store, stream, middle);
    if (event === undefined) return undefined;
    const recorded = toMicros(parseMetadata(event.metadata).recorded_at);
    if (recorded === at) return event;
    if (recorded < at) low = middle + 1;
    else high = middle - 1;
  }
  return undefined;
}

/** Checks a stored event's link in the hash chain. */
export async function checkLink(store: Reads, event: RecordedEvent): Promise<LinkedEvent> {
  const { stream, revision } = event;
  const before = revision === 0 ? undefined : await eventAt(store, stream, revision - 1);
  const previous = revision === 0 ? GENESIS : before === undefined ? undefined : readHash(before);
  return {
    event,
    previous: previous ?? '',
    hash: readHash(event),
    holds: previous !== undefined && verifyLink(previous, event) !== undefined,
  };
}

function eventAt(store: Reads, stream: string, revision: number): Promise<RecordedEvent | undefined> {
  return first(store.read(stream, { from: revision, limit: 1 }));
}

async function first(events: AsyncIterable<RecordedEvent>): Promise<RecordedEvent | undefined> {
  for await (const event of events) return event;
  return undefined;
}
