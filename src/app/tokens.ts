/** Access tokens of the authorization server, as requests bring them. */
import type { Pool } from 'pg';
import { Line } from '#queries/database/gather.ts';
import type { FindToken } from '#src/http/ports/tokens.ts';
import { openTokenCallers } from '#src/oauth/tokens/tokens.ts';

/** The look-up of access tokens, over a connection of its own. */
export interface Tokens {
  readonly findToken: FindToken;
  readonly close: () => Promise<void>;
}

/** Opens it. @param pool whose settings the connection has */
export function openTokens(pool: Pool): Tokens {
  const line = new Line(pool.options);
  return { findToken: openTokenCallers(line), close: () => line.close() };
}
