/** Describes database errors without quoting data, and recognises errors that are temporary. */
import pg from 'pg';
import { z } from 'zod';

/**
 * Returns an error's message without quoted data. PostgreSQL quotes values in its message, detail and context, JSON.parse
 * quotes the text around an error, and zod quotes its input.
 */
export function describeFailure(error: unknown): string {
  if (error instanceof pg.DatabaseError) {
    const { code, schema, table, column, constraint } = error;
    const places = { schema, table, column, constraint };
    const named = Object.entries(places).flatMap(([kind, name]) => (name ? [`${kind} ${name}`] : []));
    return [`the database rejected it with ${code ?? 'no code'}`, ...named].join(', ');
  }
  if (error instanceof z.core.$ZodError) {
    const issues = error.issues.map(({ path, code }) => `${path.join('.')} ${code}`);
    return `its data is invalid: ${issues.join(', ')}`;
  }
  if (error instanceof SyntaxError) return 'a text could not be parsed';
  return error instanceof Error ? error.message : 'a value that is not an Error was thrown';
}

/**
 * SQLSTATE classes of temporary errors: connection, transaction rollback, resources, object state, operator
 * intervention, system error (PostgreSQL documentation, Appendix A).
 */
const PASSING = /^(08|25|40|53|55|57|58)/;

/** Returns whether PostgreSQL was unreachable or busy, so that a later attempt may succeed. */
export function isPassingInDatabase(error: unknown): boolean {
  return error instanceof pg.DatabaseError ? PASSING.test(error.code ?? '') : isConnectionError(error);
}

/** Returns whether an error says that a table or a schema is missing in PostgreSQL. */
export function isTableMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === '42P01' || error.code === '3F000');
}

/**
 * Recognises broken connections. The driver reports these as plain errors, with a system error code or with a message of its
 * own.
 */
function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ('code' in error && typeof error.code === 'string' && /^E[A-Z]+$/.test(error.code)) return true;
  return CUT.test(error.message) || /^(timeout (expired|exceeded)|Query read timeout)/.test(error.message);
}

/** The driver's messages about a connection that ended while it was in use. */
const CUT = /^(Connection terminated|Client (has encountered|was closed)|write after end)/;

/** Returns whether PostgreSQL ended or refused the connection, as it does while it restarts. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const { code, syscall } = error as NodeJS.ErrnoException;
  if (error instanceof pg.DatabaseError) return /^(08|57P0[123]$)/.test(code ?? '');
  return CUT.test(error.message) || code === 'ECONNRESET' || code === 'ECONNREFUSED' || syscall === 'connect';
}
