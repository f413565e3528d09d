/** Defines the interfaces of the authorization server that `/oauth/*` requires; `src/app/oauth.ts` assembles them. */
import type { JSONWebKeySet } from 'jose';
import type { AuthenticateClient } from '#src/oauth/client-authentication.ts';
import type { Client, FindClient } from '#src/oauth/clients.ts';
import type { LogoutHints } from '#src/oauth/logout.ts';
import type { TokenClient } from '#src/oauth/tokens/codes.ts';
import type { Exchange, FailedExchange } from '#src/oauth/tokens/exchange-code.ts';
import type { ActiveToken } from '#src/oauth/tokens/introspect.ts';
import type { Issued } from '#src/oauth/tokens/issued.ts';
import type { FailedRefresh, Refresh, RefreshTokenState } from '#src/oauth/tokens/refresh.ts';
import type { BackchannelEndpoints } from './access-requests.ts';

/** Codes, tokens and keys. */
export interface TokenEndpoints {
  /** Exchanges a code. The code is used up even if the exchange fails. */
  readonly exchangeCode: (asked: Exchange) => Promise<Issued | FailedExchange>;
  /** Returns a refresh token's state; undefined if it is unknown or belongs to another application. */
  readonly findRefreshToken: (token: string, applicationId: string) => Promise<RefreshTokenState | undefined>;
  /** Exchanges a refresh token for the next one. Reuse of an earlier token ends the whole chain. */
  readonly refresh: (asked: Refresh) => Promise<Issued | FailedRefresh>;
  /** Issues an access token to the application itself, without a person. */
  readonly issueClientToken: (
    client: TokenClient,
    scope: string,
    resources: readonly string[],
  ) => Promise<{ readonly accessToken: string; readonly expiresIn: number }>;
  /** Revokes one of an application's tokens; does nothing for any other token. */
  readonly revokeToken: (token: string, applicationId: string) => Promise<void>;
  /** Returns a token's data; undefined unless the token is currently valid. */
  readonly introspectToken: (token: string) => Promise<ActiveToken | undefined>;
  /** Returns the ID token issued along with tokens; undefined without the scope `openid`. */
  readonly idToken: (clientId: string, issued: Issued) => Promise<string | undefined>;
  /** Returns the public keys for verifying ID tokens. */
  readonly publicKeys: () => Promise<JSONWebKeySet>;
}

/** A trusted application's request on behalf of a person who has signed in to it. */
export interface IdentityRequest {
  readonly client: Client;
  /** An ID token from one of the installation's issuers. */
  readonly subjectToken: string;
  /** The requested scopes, normalised: all of the application's scopes, or some of them. */
  readonly scopes: readonly string[];
  /** A Patient's id, in the form that the application received with its API key or an earlier grant. */
  readonly patient: string | undefined;
  readonly resources: readonly string[];
  readonly requestId: string;
}

/**
 * Issues a grant and its tokens to a trusted application.
 * @throws OAuthError invalid_grant; Refusal
 */
export type IdentityGrant = (asked: IdentityRequest) => Promise<Issued>;

/** The parts of the authorization server that the endpoints for clients require. */
export interface OAuthServices {
  readonly tokens: TokenEndpoints;
  readonly authenticate: AuthenticateClient;
  readonly identityGrant: IdentityGrant;
  readonly backchannel: BackchannelEndpoints;
  readonly findClient: FindClient;
  readonly logoutHints: LogoutHints;
  /** True if the URL of a metadata document is accepted as a client id. */
  readonly takesGuests: boolean;
}
