/** What `/oauth/*` needs of the authorization server; `src/app/oauth.ts` puts it together. */
import type { JSONWebKeySet } from 'jose';
import type { TokenClient } from '#src/oauth/codes.ts';
import type { Exchange, ExchangeFault } from '#src/oauth/exchange-code.ts';
import type { ActiveToken } from '#src/oauth/introspect.ts';
import type { Issued } from '#src/oauth/issued.ts';
import type { Refresh, RefreshFault, RefreshTokenState } from '#src/oauth/refresh.ts';

/** Codes, tokens and keys. */
export interface TokenEndpoints {
  /** Exchanges a code; it is used up in either case. */
  readonly exchangeCode: (asked: Exchange) => Promise<Issued | { readonly fault: ExchangeFault }>;
  /** Returns what a refresh token stands for; undefined if it is unknown or another application's. */
  readonly findRefreshToken: (token: string, applicationId: string) => Promise<RefreshTokenState | undefined>;
  /** Exchanges a refresh token for the next one; a used one ends its chain. */
  readonly refresh: (asked: Refresh) => Promise<Issued | { readonly fault: RefreshFault }>;
  /** Issues an access token of the application itself. */
  readonly issueClientToken: (
    client: TokenClient,
    scope: string,
    resources: readonly string[],
  ) => Promise<{ readonly accessToken: string; readonly expiresIn: number }>;
  /** Revokes a token of an application; does nothing for any other. */
  readonly revokeToken: (token: string, applicationId: string) => Promise<void>;
  /** Returns what a token stands for; undefined unless it works now. */
  readonly introspectToken: (token: string) => Promise<ActiveToken | undefined>;
  /** Returns the ID token that goes with tokens; undefined without `openid`. */
  readonly idToken: (clientId: string, issued: Issued) => Promise<string | undefined>;
  /** Returns the public keys that ID tokens are verified with. */
  readonly publicKeys: () => Promise<JSONWebKeySet>;
}
