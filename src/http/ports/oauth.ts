/** The interfaces of the authorization server that `/oauth/*` needs; `src/app/oauth.ts` puts it together. */
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
  /** Exchanges a code; it is used up in either case. */
  readonly exchangeCode: (asked: Exchange) => Promise<Issued | FailedExchange>;
  /** Returns the state of a refresh token; undefined if it is unknown or another application's. */
  readonly findRefreshToken: (token: string, applicationId: string) => Promise<RefreshTokenState | undefined>;
  /** Exchanges a refresh token for the next one; a used one ends its chain. */
  readonly refresh: (asked: Refresh) => Promise<Issued | FailedRefresh>;
  /** Issues an access token of the application itself. */
  readonly issueClientToken: (
    client: TokenClient,
    scope: string,
    resources: readonly string[],
  ) => Promise<{ readonly accessToken: string; readonly expiresIn: number }>;
  /** Revokes a token of an application; does nothing for any other. */
  readonly revokeToken: (token: string, applicationId: string) => Promise<void>;
  /** Returns the data of a token; undefined unless it works now. */
  readonly introspectToken: (token: string) => Promise<ActiveToken | undefined>;
  /** Returns the ID token that goes with tokens; undefined without `openid`. */
  readonly idToken: (clientId: string, issued: Issued) => Promise<string | undefined>;
  /** Returns the public keys that ID tokens are verified with. */
  readonly publicKeys: () => Promise<JSONWebKeySet>;
}

/** A request of a trusted application on behalf of a person who signed in to it. */
export interface IdentityRequest {
  readonly client: Client;
  /** An ID token of an issuer of the installation. */
  readonly subjectToken: string;
  /** The requested scopes, normalised: all or some of the application's. */
  readonly scopes: readonly string[];
  /** The id of a Patient, as the application's API key or an earlier grant shows it. */
  readonly patient: string | undefined;
  readonly resources: readonly string[];
  readonly requestId: string;
}

/** Gives a trusted application a grant and its tokens. @throws OAuthError invalid_grant; Refusal */
export type IdentityGrant = (asked: IdentityRequest) => Promise<Issued>;

/** The authorization server's parts, as the endpoints for clients need them. */
export interface OAuthServices {
  readonly tokens: TokenEndpoints;
  readonly authenticate: AuthenticateClient;
  readonly identityGrant: IdentityGrant;
  readonly backchannel: BackchannelEndpoints;
  readonly findClient: FindClient;
  readonly logoutHints: LogoutHints;
  /** True if the URL of a metadata document can be a client id. */
  readonly takesGuests: boolean;
}
