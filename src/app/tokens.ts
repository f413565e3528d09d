/** Finds the access tokens of the authorization server that requests are sent with. */
import type { Pool } from 'pg';
import { Line } from '#queries/database/gather.ts';
import type { FindToken } from '#src/http/ports/tokens.ts';
import { openTokenCallers } from '#src/oauth/tokens/tokens.ts';

/** The lookup of access tokens; it has its own connection. */
export interface Tokens {
  readonly findToken: FindToken;
  readonly close: () => Promise<void>;
}

/**
 * Creates the lookup.
 * @param pool the pool whose settings the connection uses
 */
export function openTokens(pool: Pool): Tokens {
  const line = new Line(pool.options);
  return { findToken: openTokenCallers(line), close: () => line.close() };
}
