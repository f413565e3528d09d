/**
 * One issuer, for which this service is a relying party: authorization code flow with PKCE (OpenID Connect Core 1.0, section
 * 3.1; RFC 7636; RFC 9700, section 2.1; docs/spec/decisions.md, section 9).
 */
import { createHash } from 'node:crypto';
import {
  AuthorizationResponseError,
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  type ClientAuth,
  ClientSecretBasic,
  ClientSecretPost,
  Configuration,
  type CustomFetch,
  calculatePKCECodeChallenge,
  clockTolerance,
  customFetch,
  discovery,
  fetchUserInfo,
  None,
} from 'openid-client';
import { IssuerAway } from '#src/identity/fetch-json.ts';
import { isIssuerUrl } from '#src/shared/access/issuers.ts';
import { boundedFetch } from './bounded-fetch.ts';

/** An issuer where people sign in. */
export interface SignInAt {
  /** Exactly as in `iss`. */
  readonly issuer: string;
  readonly clientId: string;
  /** Undefined for a public client. */
  readonly clientSecret?: string | undefined;
  /** Sends the requests. By default over HTTP, with limits; the development issuer answers within this process. */
  readonly fetch?: CustomFetch;
}

/** The values that one sign-in sends, and with which it checks the answer. */
export interface Exchange {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

/** The request to the issuer. */
export interface Asked {
  readonly prompt?: string | undefined;
  /** Seconds. */
  readonly maxAge?: number | undefined;
  readonly loginHint?: string | undefined;
  readonly lang: string;
}

/** The issuer's answer. */
export interface Proof {
  /** Not verified yet, except against the exchange. */
  readonly idToken: string;
  /** `auth_time`, in seconds. */
  readonly authTime: number | undefined;
  /** Claims about the person that the ID token lacks, from the issuer's userinfo endpoint. */
  readonly further: Readonly<Record<string, unknown>>;
}

/** Tolerated difference between the issuer's clock and the service's, in seconds. */
export const TOLERANCE_S = 60;
/** How long a discovery document is used before it is fetched again, in ms. */
const FRESH_MS = 10 * 60_000;

/** Returns the last part of an issuer's redirect URI: 16 hexadecimal digits of its SHA-256. */
export function issuerKey(issuer: string): string {
  return createHash('sha256').update(issuer).digest('hex').slice(0, 16);
}

/** Returns the last part of the redirect URI for an organization's client at an issuer; it is different for each client. */
export function ssoKey(issuer: string, clientId: string): string {
  return issuerKey(`${issuer}\n${clientId}`);
}

/** This service as a client of one issuer. */
export class RelyingParty {
  readonly key: string;
  readonly #redirectUri: string;
  #known: { readonly configuration: Configuration; readonly at: number } | undefined;
  #asking: Promise<Configuration> | undefined;

  /**
   * @param baseUrl the service's URL, without a trailing slash
   * @param key last part of the redirect URI
   */
  constructor(
    readonly at: SignInAt,
    baseUrl: string,
    key = issuerKey(at.issuer),
  ) {
    this.key = key;
    this.#redirectUri = `${baseUrl}/signin/callback/${this.key}`;
  }

  /**
   * Returns the URL at the issuer where the person signs in.
   * @throws IssuerAway if the issuer's discovery document can't be read
   */
  async authorizationUrl(
    { state, nonce, verifier }: Exchange,
    { prompt, maxAge, loginHint, lang }: Asked,
  ): Promise<string> {
    const url = buildAuthorizationUrl(await this.#configuration(), {
      redirect_uri: this.#redirectUri,
      response_type: 'code',
      scope: 'openid email profile',
      state,
      nonce,
      code_challenge: await calculatePKCECodeChallenge(verifier),
      code_challenge_method: 'S256',
      ui_locales: lang,
      ...(prompt === undefined ? {} : { prompt }),
      ...(maxAge === undefined ? {} : { max_age: String(maxAge) }),
      ...(loginHint === undefined ? {} : { login_hint: loginHint }),
    });
    return url.href;
  }

  /**
   * Exchanges the issuer's answer for an ID token. Checks state, nonce, `aud`, the times and, if the issuer sends it, `iss`,
   * but neither the signature nor the age of the proof.
   * @param query the query at the redirect URI
   * @throws IssuerAway; errors from openid-client
   */
  async exchange(query: string, { state, nonce, verifier }: Exchange): Promise<Proof> {
    const configuration = await this.#configuration();
    const tokens = await authorizationCodeGrant(configuration, new URL(`${this.#redirectUri}?${query}`), {
      expectedState: state,
      expectedNonce: nonce,
      pkceCodeVerifier: verifier,
    });
    const claims = tokens.claims();
    if (tokens.id_token === undefined || claims === undefined)
      throw new TypeError('the answer has no ID token');
    const isComplete = claims.email !== undefined && claims.name !== undefined;
    const further =
      isComplete || configuration.serverMetadata().userinfo_endpoint === undefined
        ? {}
        : // Name and address are optional, so a person can sign in without them.
          await fetchUserInfo(configuration, tokens.access_token, claims.sub).catch(() => ({}));
    return {
      idToken: tokens.id_token,
      authTime: typeof claims.auth_time === 'number' ? claims.auth_time : undefined,
      further,
    };
  }

  /** Returns the issuer's metadata; while the issuer is unreachable, the metadata that was last known. */
  async #configuration(): Promise<Configuration> {
    const known = this.#known;
    if (known !== undefined && Date.now() - known.at < FRESH_MS) return known.configuration;
    this.#asking ??= this.#discover().finally(() => {
      this.#asking = undefined;
    });
    try {
      const configuration = await this.#asking;
      this.#known = { configuration, at: Date.now() };
      return configuration;
    } catch (error) {
      if (known !== undefined) return known.configuration;
      throw (
        awayIn(error) ??
        new IssuerAway(`the discovery document of ${this.at.issuer} is not valid`, { cause: error })
      );
    }
  }

  async #discover(): Promise<Configuration> {
    const { issuer, clientId, clientSecret, fetch = boundedFetch } = this.at;
    const isLocal = issuer.startsWith('http:');
    const options = { [customFetch]: fetch, execute: isLocal ? [allowInsecureRequests] : [] };
    const found = await discovery(new URL(issuer), clientId, undefined, None(), options);
    const metadata = found.serverMetadata();
    // Compared byte for byte, as is `iss` in the issuer's ID tokens.
    if (metadata.issuer !== issuer) throw new TypeError('the discovery document names another issuer');
    const { authorization_endpoint: where = '' } = metadata;
    if (!isIssuerUrl(where.split('?', 1)[0] ?? '') || where.includes('#'))
      throw new TypeError('the authorization_endpoint is not https');
    const configuration = new Configuration(
      metadata,
      clientId,
      { [clockTolerance]: TOLERANCE_S },
      chooseAuthentication(metadata.token_endpoint_auth_methods_supported, clientSecret),
    );
    configuration[customFetch] = fetch;
    if (isLocal) allowInsecureRequests(configuration);
    return configuration;
  }
}

/** The default in OpenID Connect Discovery, section 3, is `client_secret_basic`. */
function chooseAuthentication(
  methods: readonly string[] | undefined,
  secret: string | undefined,
): ClientAuth {
  if (secret === undefined) return None();
  return methods === undefined || methods.includes('client_secret_basic')
    ? ClientSecretBasic(secret)
    : ClientSecretPost(secret);
}

/** Returns the IssuerAway error that caused the given error; undefined if there is none. */
export function awayIn(error: unknown): IssuerAway | undefined {
  for (let cause = error, depth = 0; cause instanceof Error && depth < 5; cause = cause.cause, depth += 1)
    if (cause instanceof IssuerAway) return cause;
  return undefined;
}

/** Returns the error code with which the issuer ended a sign-in (RFC 6749, section 4.1.2.1); undefined for other errors. */
export function endedWith(error: unknown): string | undefined {
  return error instanceof AuthorizationResponseError ? error.error : undefined;
}
