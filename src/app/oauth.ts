/** Assembles the authorization server's codes, tokens and signing keys. */
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { TokenEndpoints } from '../http/ports/oauth.ts';
import { openClientAuthentication } from '../oauth/client-authentication.ts';
import { openClients } from '../oauth/clients.ts';
import { openLogoutHints } from '../oauth/logout.ts';
import { revokeToken, sweepTokens } from '../oauth/revoke.ts';
import { SigningKeys } from '../oauth/signing-keys.ts';
import type { Allowed } from '../oauth/tokens/codes.ts';
import { exchangeCode } from '../oauth/tokens/exchange-code.ts';
import { idTokenFor } from '../oauth/tokens/id-token.ts';
import { introspectToken } from '../oauth/tokens/introspect.ts';
import { issueClientToken, issueGrantTokens } from '../oauth/tokens/issue-tokens.ts';
import { issueMemberToken, type NewMemberToken } from '../oauth/tokens/member-token.ts';
import { findRefreshToken, refresh } from '../oauth/tokens/refresh.ts';
import { customerHosts } from '../shared/customer-hosts.ts';

/** Creates the parts of the authorization server on a database. */
export function openOAuth({
  pool,
  issuer,
  refreshDays,
  publicOnly,
  log,
}: {
  readonly pool: Pool;
  /** BASE_URL. */
  readonly issuer: string;
  /** Lifetime of a refresh token. */
  readonly refreshDays: number;
  /** True if `jwks_uri` must resolve to public addresses only. */
  readonly publicOnly: boolean;
  readonly log: Logger;
}) {
  const keys = new SigningKeys(pool);
  const endpoints: TokenEndpoints = {
    exchangeCode: (asked) => exchangeCode(pool, asked, refreshDays),
    findRefreshToken: (token, applicationId) => findRefreshToken(pool, token, applicationId),
    refresh: (asked) => refresh(pool, asked, refreshDays),
    issueClientToken: (client, scope, resources) => issueClientToken(pool, client, scope, resources),
    revokeToken: (token, applicationId) => revokeToken(pool, token, applicationId),
    introspectToken: (token) => introspectToken(pool, token),
    idToken: (clientId, issued) => idTokenFor(keys, { issuer, clientId }, issued),
    publicKeys: () => keys.published(),
  };
  const findClient = openClients(pool);
  const authenticate = openClientAuthentication({
    findClient,
    pool,
    baseUrl: issuer,
    hosts: customerHosts(publicOnly),
    onAway: (jwksUri, error) =>
      log.warn({ err: error, jwks_uri: jwksUri }, "an application's keys could not be fetched"),
  });
  return {
    endpoints,
    authenticate,
    findClient,
    logoutHints: openLogoutHints(pool, keys, issuer),
    issueGrantTokens: (asked: Allowed) => issueGrantTokens(pool, asked, refreshDays),
    issueMemberToken: (asked: NewMemberToken) => issueMemberToken(pool, asked),
    async sweep() {
      await sweepTokens(pool);
      await keys.sweep();
    },
  };
}
