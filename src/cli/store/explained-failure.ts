/**
 * Explains why a command failed: wrong settings, a database that can't be used or was lost, or events that the command couldn't
 * read. Loaded only after a command has failed, because this module also loads the database client.
 */
import { CannotApply } from '#projections/failure.ts';
import { ConfigError } from '#src/config.ts';
import { describeFailure, isConnectionLost } from '#src/database/failure.ts';
import { unusableDatabase } from '#src/database/unusable.ts';
import { NewerEvent } from '#src/events/newer.ts';
import { UnreadableEvent } from '#src/events/unreadable.ts';
import { Failure } from '../failure.ts';

/**
 * Returns the failure to print. A job whose connection was lost runs again.
 * @returns undefined for other errors.
 */
export function explainedFailure(error: unknown): Failure | undefined {
  if (error instanceof ConfigError) return new Failure(error.message);
  const lost = isConnectionLost(error);
  const unusable = process.env.DATABASE_URL ? unusableDatabase(error) : undefined;
  if (unusable !== undefined) return new Failure(unusable, 1, lost ? 'interrupted' : undefined);
  if (lost)
    return new Failure(
      `the connection to the database was lost (${describeFailure(error)}); run the command again`,
      1,
      'interrupted',
    );
  return unreadableFailure(error);
}

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
