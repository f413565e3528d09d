/** Runs queries whose cost depends on a definition that a client has sent. */
import type { Pool, QueryResultRow } from 'pg';
import { Refusal } from '#src/shared/refusal.ts';
import type { Bound } from './binds.ts';

/** Maximum duration of a statement with regular expressions, in ms, because some of them would never finish. */
const MATCHING_MS = 2_000;

/**
 * Returns the rows from a statement about a value set's members.
 * @throws Refusal invalid (422) for a regular expression that is invalid in PostgreSQL or takes too long; too_large (413) for
 *   any other definition whose members take too long to find
 */
export async function queryMembers<R extends QueryResultRow>(
  pool: Pool,
  text: string,
  bound: Bound,
): Promise<R[]> {
  try {
    if (bound.hasPattern) return await askInTime<R>(pool, text, bound.values);
    return (await pool.query<R>(text, bound.values)).rows;
  } catch (error) {
    throw toQueryRefusal(error, bound);
  }
}

async function askInTime<R extends QueryResultRow>(
  pool: Pool,
  text: string,
  values: unknown[],
): Promise<R[]> {
  const client = await pool.connect();
  let broken: Error | undefined;
  try {
    await client.query(`begin read only; set local statement_timeout = ${MATCHING_MS}`);
    return (await client.query<R>(text, values)).rows;
  } finally {
    await client.query('rollback').catch((error: Error) => {
      broken = error;
    });
    client.release(broken);
  }
}

/**
 * Returns the refusal for an error that is caused by the definition, by SQLSTATE: invalid_regular_expression, query_canceled.
 */
function toQueryRefusal(error: unknown, { hasPattern }: Bound): unknown {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (error instanceof Error && code === '2201B') {
    return new Refusal('invalid', {
      code: 'invalid',
      diagnostics: `a regex filter is invalid: ${error.message}`,
    });
  }
  if (hasPattern && code === '57014') {
    return new Refusal('invalid', {
      code: 'too-costly',
      diagnostics: `the regex filters of this value set take longer than ${MATCHING_MS / 1_000} s to match; write them without back references, or use other filters`,
    });
  }
  if (code === '57014') {
    const diagnostics =
      'finding the members of the value set takes the database longer than one statement may take; ask for less, for example with a filter';
    return new Refusal('too_large', { code: 'too-costly', diagnostics });
  }
  return error;
}
