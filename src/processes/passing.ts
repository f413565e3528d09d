/** Recognises faults that resolve themselves and weren't caused by the event. */
import { isPassingInDatabase } from '#src/database/failure.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { NewerEvent } from '../events/newer.ts';
import { Unavailable } from '../events/store.ts';
import { LeadLost } from './lead.ts';

/**
 * Returns whether this instance must leave the work to another instance, because it no longer leads or is too old to read an
 * event.
 */
export function isForOthers(error: unknown): error is LeadLost | NewerEvent {
  return error instanceof LeadLost || error instanceof NewerEvent;
}

/** Returns whether a retry may succeed later without any change: something was unavailable, busy or too slow. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Unavailable || isForOthers(error)) return true;
  if (error instanceof Refusal) return error.kind === 'unavailable';
  return isPassingInDatabase(error);
}
