/** Why a projection does not go on: a condition that passes, or an event that it cannot apply. */
import pg from 'pg';
import { type RecordedEvent, Unavailable } from '#src/events/store.ts';
import { CheckpointMoved } from './checkpoint.ts';

/** An event that a projection cannot apply. Names the event and never quotes its data. */
export class CannotApply extends Error {
  override readonly name = 'CannotApply';
  constructor(
    readonly projection: string,
    readonly event: Pick<RecordedEvent, 'id' | 'type' | 'stream' | 'revision' | 'position'>,
    override readonly cause: unknown,
  ) {
    super(
      `projection ${projection} cannot apply event ${event.id} (${event.type}, ${event.stream} revision ` +
        `${event.revision}, position ${event.position}): ${cause instanceof Error ? cause.message : String(cause)}`,
    );
  }
}

/**
 * SQLSTATE classes of what passes by itself: connection, transaction rollback, resources, object state, operator
 * intervention, system error (PostgreSQL documentation, Appendix A).
 */
const PASSING = /^(08|25|40|53|55|57|58)/;

/** Whether trying again later may help without anything being changed. */
export function isPassing(error: unknown): boolean {
  if (error instanceof Unavailable || error instanceof CheckpointMoved) return true;
  if (error instanceof pg.DatabaseError) return PASSING.test(error.code ?? '');
  return isConnectionError(error);
}

/** The driver reports broken connections as plain errors, with a system error code or one of its own sentences. */
function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code)) return true;
  return /^(Connection terminated|Client (has encountered|was closed)|timeout expired|write after end)/.test(
    error.message,
  );
}
