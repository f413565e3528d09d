/** Classifies errors that mean that PostgreSQL is unreachable. */
import pg from 'pg';
import { persist as tryAgain } from '../persist.ts';
import { Unavailable } from '../store.ts';

/**
 * SQLSTATE classes of a server that can't serve now: 08 connection, 53 resources, 57 operator intervention
 * (shutdown, start-up, cancellation), 58 system error; and single codes: 25006 read-only (a standby), 40001
 * and 40P01 lost races. https://www.postgresql.org/docs/current/errcodes-appendix.html
 */
const AWAY = /^(08|53|57|58|25006|40001|40P01)/;

const MISTAKES = [TypeError, RangeError, ReferenceError, SyntaxError];

/**
 * Returns true if an error means that the server is unreachable, rather than that the statement was wrong.
 */
export function isAway(error: unknown): boolean {
  if (error instanceof Unavailable) return true;
  if (error instanceof pg.DatabaseError) return AWAY.test(error.code ?? '');
  // Node and the client library throw many classes for refused, reset or ended connections and missed deadlines;
  // mistakes in code throw these.
  return error instanceof Error && !MISTAKES.some((mistake) => error instanceof mistake);
}

/** Returns `Unavailable` when an error means that the server is unreachable, otherwise the error itself. */
export function asUnavailable(error: unknown): unknown {
  if (error instanceof Unavailable || !isAway(error)) return error;
  return new Unavailable(`the event log does not answer: ${error instanceof Error ? error.message : error}`, {
    cause: error,
  });
}

/** How long operations are repeated, in ms: enough for a lost connection. */
const PATIENCE_MS = 1_500;

/**
 * Retries a repeatable operation until it succeeds, or fails for another reason than an unreachable server.
 * @param onRetry called with each failure that is followed by another attempt.
 * @throws Unavailable after the last attempt.
 */
export async function persist<T>(attempt: () => Promise<T>, onRetry?: (error: unknown) => void): Promise<T> {
  try {
    return await tryAgain(attempt, { isAway, onRetry, patience: PATIENCE_MS });
  } catch (error) {
    throw asUnavailable(error);
  }
}
