/** Explains why the database in DATABASE_URL can't be used, and what to check. The text never contains the password. */

const SERVER = 'check that PostgreSQL runs there, and the host and port in DATABASE_URL';
const ROLE = 'check the user and password in DATABASE_URL, and pg_hba.conf of the server';

/** The advice for each system or PostgreSQL error code (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const CHECKS: Readonly<Record<string, string>> = {
  ECONNRESET: SERVER,
  EAI_AGAIN: SERVER,
  ENOTFOUND: SERVER,
  '28P01': ROLE,
  '28000': ROLE,
  '3D000': 'create the database, or correct its name in DATABASE_URL',
};

/**
 * Returns the message for a connection error.
 * @returns undefined if the error's own message is sufficient
 */
export function unusableDatabase(error: unknown): string | undefined {
  const { code, syscall } = firstIn(error);
  const known = typeof code === 'string' && Object.hasOwn(CHECKS, code) ? CHECKS[code] : undefined;
  const check = known ?? (syscall === 'connect' ? SERVER : undefined);
  return check && `DATABASE_URL: cannot use the database: ${errorMessage(error)}; ${check}`;
}

/** Returns the details of an error; for a host with several addresses, those of the first. */
function firstIn(error: unknown): { readonly code?: unknown; readonly syscall?: unknown } {
  return Object(error instanceof AggregateError ? error.errors[0] : error);
}

/** Returns an error's message; for a host with several addresses, one message per address. */
export function errorMessage(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(errorMessage).join('; ');
  return error instanceof Error ? error.message : String(error);
}
