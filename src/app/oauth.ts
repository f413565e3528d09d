/** Assembles the authorization server's codes, tokens and signing keys. */
import type { Pool } from 'pg';
import { Line } from '#queries/gather.ts';
import type { TokenEndpoints } from '../http/ports/oauth.ts';
import { issueCode, type NewCode } from '../oauth/codes.ts';
import { exchangeCode } from '../oauth/exchange-code.ts';
import { idTokenFor } from '../oauth/id-token.ts';
import { introspectToken } from '../oauth/introspect.ts';
import { issueClientToken, issueGrantTokens } from '../oauth/issue-tokens.ts';
import { findRefreshToken, refresh } from '../oauth/refresh.ts';
import { forgetRecord, revokeToken, sweepTokens } from '../oauth/revoke.ts';
import { SigningKeys } from '../oauth/signing-keys.ts';
import { openTokenCallers } from '../oauth/tokens.ts';

/** Opens them over a database. @param issuer BASE_URL */
export function openOAuth({ pool, issuer }: { readonly pool: Pool; readonly issuer: string }) {
  // Its own connection, so that requests with API keys never wait for a look-up of tokens.
  const line = new Line(pool.options);
  const keys = new SigningKeys(pool);
  const endpoints: TokenEndpoints = {
    exchangeCode: (asked) => exchangeCode(pool, asked),
    findRefreshToken: (token, applicationId) => findRefreshToken(pool, token, applicationId),
    refresh: (asked) => refresh(pool, asked),
    issueClientToken: (client, scope, resources) => issueClientToken(pool, client, scope, resources),
    revokeToken: (token, applicationId) => revokeToken(pool, token, applicationId),
    introspectToken: (token) => introspectToken(pool, token),
    idToken: (clientId, issued) => idTokenFor(keys, { issuer, clientId }, issued),
    publicKeys: () => keys.published(),
  };
  return {
    findToken: openTokenCallers(line),
    endpoints,
    /** Issues a code after consent. */
    issueCode: (asked: NewCode) => issueCode(pool, asked),
    issueGrantTokens: (asked: Parameters<typeof issueGrantTokens>[1]) => issueGrantTokens(pool, asked),
    /** Deletes all codes and tokens of a record, for its purge. */
    forget: (record: string) => forgetRecord(pool, record),
    async sweep() {
      await sweepTokens(pool);
      await keys.sweep();
    },
    close: () => line.close(),
  };
}
