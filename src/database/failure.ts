/** What an error of the database, or of reading what came from it, says without quoting data; and whether it passes. */
import pg from 'pg';
import { z } from 'zod';

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

/**
 * SQLSTATE classes of what passes by itself: connection, transaction rollback, resources, object state, operator
 * intervention, system error (PostgreSQL documentation, Appendix A).
 */
const PASSING = /^(08|25|40|53|55|57|58)/;

/** Whether PostgreSQL was away or busy: trying again later may help without anything being changed. */
export function isPassingInDatabase(error: unknown): boolean {
  return error instanceof pg.DatabaseError ? PASSING.test(error.code ?? '') : isConnectionError(error);
}

/** Whether PostgreSQL has no such table, or no such schema. */
export function isTableMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '42P01' || error.code === '3F000');
}

/** The driver reports broken connections as plain errors, with a system error code or one of its own sentences. */
function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code)) return true;
  return /^(Connection terminated|Client (has encountered|was closed)|timeout (expired|exceeded)|Query read timeout|write after end)/.test(
    error.message,
  );
}
