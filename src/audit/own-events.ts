/**
 * Reads the project's own events, newest first: the events in its own stream and in the streams of its applications and
 * webhook endpoints.
 */
import { parseMetadata } from '#src/events/metadata.ts';
import type { EventStore, RecordedEvent } from '#src/events/store.ts';
import { type Micros, toMicros } from '#src/shared/time/time.ts';

/** An event with its time. */
export interface OwnEvent {
  readonly event: RecordedEvent;
  readonly at: Micros;
}

interface Source {
  readonly events: AsyncIterator<RecordedEvent>;
  next: OwnEvent | undefined;
}

/** Yields the events of several streams in order of time, newest first; if times are equal, the highest id first. */
export async function* newestFirst(
  store: Pick<EventStore, 'read'>,
  streams: readonly string[],
): AsyncGenerator<OwnEvent> {
  const sources: Source[] = [];
  try {
    for (const stream of streams) {
      const source = {
        events: store.read(stream, { direction: 'backwards' })[Symbol.asyncIterator](),
        next: undefined,
      };
      sources.push(source);
      await advance(source);
    }
    for (;;) {
      const newest = sources.reduce<Source | undefined>(later, undefined);
      if (newest?.next === undefined) return;
      yield newest.next;
      await advance(newest);
    }
  } finally {
    for (const { events } of sources) await events.return?.();
  }
}

async function advance(source: Source): Promise<void> {
  const { value, done } = await source.events.next();
  source.next =
    done === true ? undefined : { event: value, at: toMicros(parseMetadata(value.metadata).recorded_at) };
}

function later(one: Source | undefined, other: Source): Source | undefined {
  if (other.next === undefined) return one;
  if (one?.next === undefined) return other;
  return comesBefore(other.next, one.next) ? other : one;
}

/** Returns whether one event is newer than another. */
export function comesBefore(
  one: { readonly at: Micros; readonly event: { readonly id: string } },
  other: { readonly at: Micros; readonly event: { readonly id: string } },
): boolean {
  return one.at > other.at || (one.at === other.at && one.event.id > other.event.id);
}
