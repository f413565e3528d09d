/** Why a projection does not go on: a condition that passes, or an event that it cannot apply. */
import pg from 'pg';
import { z } from 'zod';
import { type RecordedEvent, Unavailable } from '#src/events/store.ts';
import { CheckpointMoved } from './checkpoint.ts';

/** What is told of an event: where it is and what kind it is, nothing of what it says. */
export type EventName = Pick<RecordedEvent, 'id' | 'type' | 'stream' | 'revision' | 'position'>;

/** An event that a projection cannot apply. Names the event and never quotes its data. */
export class CannotApply extends Error {
  override readonly name = 'CannotApply';
  readonly event: EventName;

  /**
   * @param event may be a whole event: only its name is kept.
   * @param reason what was thrown: kept as `cause` without what it quotes.
   */
  constructor(
    readonly projection: string,
    event: EventName,
    reason: unknown,
  ) {
    const { id, type, stream, revision, position } = event;
    super(
      `projection ${projection} cannot apply event ${id} (${type}, ${stream} revision ` +
        `${revision}, position ${position}): ${reasonOf(reason)}`,
      { cause: withoutData(reason) },
    );
    this.event = { id, type, stream, revision, position };
  }
}

/**
 * What an error says without what it quotes of the data: PostgreSQL quotes values in its message, detail and context,
 * JSON.parse the text around a fault, zod what it read.
 */
export function reasonOf(error: unknown): string {
  if (error instanceof pg.DatabaseError) {
    const { code, schema, table, column, constraint } = error;
    const places = { schema, table, column, constraint };
    const named = Object.entries(places).flatMap(([kind, name]) => (name ? [`${kind} ${name}`] : []));
    return [`the database refuses it with ${code ?? 'no code'}`, ...named].join(', ');
  }
  if (error instanceof z.core.$ZodError) {
    const issues = error.issues.map(({ path, code }) => `${path.join('.')} ${code}`);
    return `it is not of its form: ${issues.join(', ')}`;
  }
  if (error instanceof SyntaxError) return 'a text could not be parsed';
  return error instanceof Error ? error.message : 'something that is no Error was thrown';
}

/** An error of the same kind, thrown at the same place, that quotes nothing. */
function withoutData(error: unknown): Error {
  const told = new Error(reasonOf(error));
  if (!(error instanceof Error)) return told;
  const frames = error.stack?.split('\n').filter((line) => line.startsWith('    at ')) ?? [];
  told.name = error.name;
  told.stack = [`${told.name}: ${told.message}`, ...frames].join('\n');
  return told;
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
  return /^(Connection terminated|Client (has encountered|was closed)|timeout (expired|exceeded)|Query read timeout|write after end)/.test(
    error.message,
  );
}
