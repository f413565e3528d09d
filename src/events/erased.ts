/** Determines which records no longer have events. */
import { type EventStore, StreamDeleted } from './store.ts';
import { recordStream } from './streams.ts';

/** Returns whether a record's stream was removed from the store. */
export async function isErased(store: Pick<EventStore, 'read'>, patient: string): Promise<boolean> {
  try {
    for await (const _ of store.read(recordStream(patient), { limit: 1 })) return false;
    return false;
  } catch (error) {
    if (error instanceof StreamDeleted) return true;
    throw error;
  }
}
