/**
 * An instance of the authorization server's token operations, in a separate process that can be killed. It accepts one
 * operation per message and responds with the result.
 */
import pg from 'pg';
import { revokeToken } from '#src/oauth/revoke.ts';
import { type Exchange, exchangeCode } from '#src/oauth/tokens/exchange-code.ts';
import { introspectToken } from '#src/oauth/tokens/introspect.ts';
import { type Refresh, refresh } from '#src/oauth/tokens/refresh.ts';

/** An operation, with its number. */
export type TokenWork =
  | { readonly id: number; readonly does: 'exchange'; readonly asked: Exchange }
  | { readonly id: number; readonly does: 'refresh'; readonly asked: Refresh }
  | { readonly id: number; readonly does: 'revoke'; readonly token: string; readonly applicationId: string }
  | { readonly id: number; readonly does: 'introspect'; readonly token: string };

const pool = new pg.Pool({ connectionString: process.env.TOKEN_DATABASE_URL, max: 6 });

async function done(work: TokenWork): Promise<unknown> {
  if (work.does === 'exchange') return exchangeCode(pool, work.asked);
  if (work.does === 'refresh') return refresh(pool, work.asked);
  if (work.does === 'revoke') return revokeToken(pool, work.token, work.applicationId);
  return introspectToken(pool, work.token);
}

process.on('message', (work: TokenWork) => {
  done(work).then(
    (result) => process.send?.({ id: work.id, result: result ?? null }),
    (error: unknown) => process.send?.({ id: work.id, error: String(error) }),
  );
});
process.on('disconnect', () => process.exit(0));
process.send?.({ id: 0, result: null });
