/** Assembles the authorization server's codes, tokens and signing keys. */
import type { Pool } from 'pg';
import type { TokenEndpoints } from '../http/ports/oauth.ts';
import { issueCode, type NewCode } from '../oauth/codes.ts';
import { exchangeCode } from '../oauth/exchange-code.ts';
import { idTokenFor } from '../oauth/id-token.ts';
import { introspectToken } from '../oauth/introspect.ts';
import { issueClientToken, issueGrantTokens } from '../oauth/issue-tokens.ts';
import { findRefreshToken, refresh } from '../oauth/refresh.ts';
import { revokeToken, sweepTokens } from '../oauth/revoke.ts';
import { SigningKeys } from '../oauth/signing-keys.ts';

/** Opens them over a database. @param issuer BASE_URL */
export function openOAuth({ pool, issuer }: { readonly pool: Pool; readonly issuer: string }) {
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
    endpoints,
    /** Issues a code after consent. */
    issueCode: (asked: NewCode) => issueCode(pool, asked),
    issueGrantTokens: (asked: Parameters<typeof issueGrantTokens>[1]) => issueGrantTokens(pool, asked),
    async sweep() {
      await sweepTokens(pool);
      await keys.sweep();
    },
  };
}
