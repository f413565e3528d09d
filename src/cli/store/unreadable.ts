/**
 * Reports events that a command couldn't read. Loaded only after a command has failed, because this module also loads the
 * database client.
 */
import { CannotApply } from '#projections/failure.ts';
import { NewerEvent } from '#src/events/newer.ts';
import { UnreadableEvent } from '#src/events/unreadable.ts';
import { Failure } from '../failure.ts';

/**
 * Returns the failure to print for an event that a command can't read.
 * @returns undefined for other errors.
 */
export function unreadableFailure(error: unknown): Failure | undefined {
  const newer = error instanceof NewerEvent || (error instanceof CannotApply && error.newer !== undefined);
  if (newer) return new Failure(error.message);
  if (error instanceof UnreadableEvent || error instanceof CannotApply)
    return new Failure(`${error.message}; run annal verify for details`);
  return undefined;
}
