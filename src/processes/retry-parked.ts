/** Tries again what a process has set aside. */
import { reasonOf } from '#src/database/failure.ts';
import { type EventStore, type RecordedEvent, StreamDeleted } from '../events/store.ts';
import type { ParkedEvent, ParkedEvents } from './parked.ts';
import { isPassing } from './passing.ts';

/** What it takes to do a parked event's work. */
export interface RetryDeps {
  readonly store: Pick<EventStore, 'read'>;
  readonly parked: ParkedEvents;
  readonly act: (event: RecordedEvent) => Promise<unknown>;
  readonly log: { info(details: object, message: string): void };
}

/**
 * Does the work of one event that was set aside, or notes that it failed once more.
 * @throws what passes by itself.
 */
export async function retryParked(deps: RetryDeps, parked: ParkedEvent): Promise<void> {
  try {
    const event = await read(deps.store, parked);
    if (event !== undefined) await deps.act(event);
  } catch (error) {
    if (isPassing(error)) throw error;
    await deps.parked.failed(parked, reasonOf(error));
    return;
  }
  await deps.parked.done(parked);
  const { process, eventId: id, stream, revision } = parked;
  deps.log.info({ process, event: { id, stream, revision } }, 'an event that was set aside is done');
}

/** The event; undefined once its stream was erased: nothing of it is left to be done. */
async function read(
  store: RetryDeps['store'],
  { stream, revision }: ParkedEvent,
): Promise<RecordedEvent | undefined> {
  try {
    for await (const event of store.read(stream, { from: revision, limit: 1 })) return event;
  } catch (error) {
    if (!(error instanceof StreamDeleted)) throw error;
    return undefined;
  }
  throw new Error(`there is no event at revision ${revision}`);
}
