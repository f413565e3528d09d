/** Retries parked events. */
import { describeFailure } from '#src/database/failure.ts';
import { type EventStore, type RecordedEvent, StreamDeleted } from '../events/store.ts';
import type { ParkedEvent, ParkedEvents } from './parked.ts';
import { isPassing } from './passing.ts';

/**
 * Retries one parked event, or records that it failed again.
 * @throws temporary errors
 */
export async function retryParked(
  deps: {
    readonly store: Pick<EventStore, 'read'>;
    readonly parked: ParkedEvents;
    readonly act: (event: RecordedEvent) => Promise<unknown>;
    readonly log: { info(details: object, message: string): void };
  },
  parked: ParkedEvent,
): Promise<void> {
  try {
    const event = await read(deps.store, parked);
    if (event !== undefined) await deps.act(event);
  } catch (error) {
    if (isPassing(error)) throw error;
    await deps.parked.failed(parked, describeFailure(error));
    return;
  }
  await deps.parked.done(parked);
  const { process, eventId: id, stream, revision } = parked;
  deps.log.info({ process, event: { id, stream, revision } }, 'a parked event was handled');
}

/** Returns the event; undefined if its stream was erased, in which case there is nothing left to do. */
async function read(
  store: Pick<EventStore, 'read'>,
  { stream, revision }: ParkedEvent,
): Promise<RecordedEvent | undefined> {
  try {
    for await (const event of store.read(stream, { from: revision, limit: 1 })) return event;
  } catch (error) {
    if (!(error instanceof StreamDeleted)) throw error;
    return undefined;
  }
  throw new Error(`the stream has no event at revision ${revision}`);
}
