/**
 * Access to a patient's record: the authorization request with PKCE, and obtaining, renewing and revoking tokens
 * (docs/connect.md).
 */
import { Annal } from './client.ts';
import { ApiError, OAuthError } from './errors.ts';
import { type Settings, Transport } from './transport.ts';

/** An application that is registered with the service. */
export interface AppSettings extends Omit<Settings, 'credential'> {
  readonly clientId: string;
  /** For a confidential application. Never put it into a browser. */
  readonly clientSecret?: string | undefined;
  /** One of the registered URIs, identical character by character. */
  readonly redirectUri: string;
  readonly scopes: readonly string[];
}

/** The data about the request that the callback needs. Keep it where only this browser or session can find it. */
export interface Pending {
  readonly state: string;
  readonly verifier: string;
  readonly nonce: string;
}

/** Tokens of a grant. */
export interface Tokens {
  readonly accessToken: string;
  /** Milliseconds since 1970. */
  readonly expiresAt: number;
  readonly refreshToken: string | undefined;
  readonly scopes: readonly string[];
  /** The id under which the application knows the patient. */
  readonly patient: string | undefined;
  readonly grantId: string | undefined;
  readonly idToken: string | undefined;
}

/**
 * The place where an application keeps a grant's tokens. If several processes or tabs share the tokens, `lock` must allow only
 * one refresh at a time: a refresh token works once, and a second use revokes all tokens.
 */
export interface TokenStore {
  load(): Tokens | undefined | Promise<Tokens | undefined>;
  save(tokens: Tokens): void | Promise<void>;
  /** Default: `navigator.locks` if it exists, for the tabs of a browser. */
  lock?<T>(run: () => Promise<T>): Promise<T>;
}

/** Parameters of the consent page: docs/consent-page.md. */
export interface AuthorizeOptions {
  readonly scopes?: readonly string[] | undefined;
  readonly purpose?: string | undefined;
  readonly patient?: string | undefined;
  readonly lang?: string | undefined;
  readonly prompt?: string | undefined;
  readonly loginHint?: string | undefined;
}

interface TokenAnswer {
  readonly access_token: string;
  readonly expires_in: number;
  readonly scope: string;
  readonly refresh_token?: string;
  readonly patient?: string;
  readonly grant_id?: string;
  readonly id_token?: string;
}

/** How long before its expiry a token is renewed, in ms. */
const EARLY = 30_000;

/** An application that asks people for access to their records. */
export class AnnalApp {
  readonly #settings: AppSettings;
  readonly #transport: Transport;

  constructor(settings: AppSettings) {
    this.#settings = settings;
    this.#transport = new Transport({ ...settings, credential: undefined });
  }

  /** Returns the URL to which to send the person's browser, and the data to keep for the callback. */
  async authorize(
    options: AuthorizeOptions = {},
  ): Promise<{ readonly url: string; readonly pending: Pending }> {
    const pending = { state: random(), verifier: random(), nonce: random() };
    const { clientId, redirectUri, scopes } = this.#settings;
    const asked = options.scopes ?? scopes;
    const digest = await crypto.subtle.digest('SHA-256', new TextEncoder().encode(pending.verifier));
    const url = this.#transport.url('/oauth/authorize', {
      response_type: 'code',
      client_id: clientId,
      redirect_uri: redirectUri,
      scope: asked.join(' '),
      state: pending.state,
      nonce: asked.includes('openid') ? pending.nonce : undefined,
      code_challenge: toBase64Url(new Uint8Array(digest)),
      code_challenge_method: 'S256',
      aud: `${this.#transport.baseUrl}/fhir/R4`,
      purpose: options.purpose,
      patient: options.patient,
      lang: options.lang,
      prompt: options.prompt,
      login_hint: options.loginHint,
    });
    return { url, pending };
  }

  /**
   * Reads the URL to which the browser was redirected, and exchanges its code.
   * @throws OAuthError if the person denied access (`access_denied`), or if the URL doesn't belong to this request
   */
  async callback(url: string | URL, pending: Pending): Promise<Tokens> {
    const answer = new URL(url).searchParams;
    if (answer.get('state') !== pending.state)
      throw new OAuthError('invalid_state', 'this is not the answer to the request: `state` differs');
    if (answer.get('iss') !== this.#transport.baseUrl)
      throw new OAuthError('invalid_issuer', 'the answer is from another service: `iss` differs');
    const error = answer.get('error');
    if (error !== null) throw new OAuthError(error, answer.get('error_description') ?? '');
    const tokens = await this.#exchange({
      grant_type: 'authorization_code',
      code: answer.get('code') ?? '',
      code_verifier: pending.verifier,
      redirect_uri: this.#settings.redirectUri,
    });
    if (tokens.idToken !== undefined && readNonce(tokens.idToken) !== pending.nonce)
      throw new OAuthError('invalid_nonce', 'the ID token is not of this request: `nonce` differs');
    return tokens;
  }

  /**
   * Returns the next tokens. Each refresh token works once: use `connect`, which refreshes when necessary and never twice at
   * the same time.
   */
  async refresh(tokens: Tokens): Promise<Tokens> {
    if (tokens.refreshToken === undefined)
      throw new OAuthError('invalid_grant', 'there is no refresh token: ask for offline_access');
    const next = await this.#exchange({ grant_type: 'refresh_token', refresh_token: tokens.refreshToken });
    return {
      ...next,
      patient: next.patient ?? tokens.patient,
      grantId: next.grantId ?? tokens.grantId,
      idToken: next.idToken ?? tokens.idToken,
    };
  }

  /** Returns a token with a confidential application's own rights. */
  clientCredentials(scopes: readonly string[] = []): Promise<Tokens> {
    const scope = scopes.length === 0 ? {} : { scope: scopes.join(' ') };
    return this.#exchange({ grant_type: 'client_credentials', ...scope });
  }

  /** Revokes the tokens: the whole chain, if there is a refresh token. The person's consent remains in force. */
  async revoke(tokens: Tokens): Promise<void> {
    await this.#post('/oauth/revoke', { token: tokens.refreshToken ?? tokens.accessToken });
  }

  /**
   * Returns a client with the access of a grant. It refreshes its token when the token is about to expire or was refused;
   * concurrent calls that need a new token wait for a single refresh.
   * @param from the tokens, or the store that keeps them
   */
  connect(from: Tokens | TokenStore): Annal {
    const store = 'load' in from ? from : keepInMemory(from);
    let running: Promise<Tokens> | undefined;
    const renew = (old: Tokens): Promise<Tokens> => {
      running ??= this.#renew(store, old).finally(() => {
        running = undefined;
      });
      return running;
    };
    const credential = async (refused?: string): Promise<string> => {
      const tokens = await store.load();
      if (tokens === undefined) throw new OAuthError('invalid_grant', 'there are no tokens');
      const ended = Date.now() > tokens.expiresAt - EARLY || tokens.accessToken === refused;
      if (!ended || tokens.refreshToken === undefined) return tokens.accessToken;
      return (await renew(tokens)).accessToken;
    };
    return new Annal({ ...this.#settings, credential });
  }

  async #renew(store: TokenStore, old: Tokens): Promise<Tokens> {
    const run = async (): Promise<Tokens> => {
      // Another process may have refreshed the tokens in the meantime.
      const present = (await store.load()) ?? old;
      if (present.refreshToken !== old.refreshToken) return present;
      const next = await this.refresh(present);
      await store.save(next);
      return next;
    };
    if (store.lock !== undefined) return store.lock(run);
    const locks = (globalThis.navigator as Navigator | undefined)?.locks as LockManager | undefined;
    return locks === undefined ? run() : await locks.request(`annal ${this.#settings.clientId}`, run);
  }

  async #exchange(form: Readonly<Record<string, string>>): Promise<Tokens> {
    const answer = JSON.parse(await this.#post('/oauth/token', form)) as TokenAnswer;
    return {
      accessToken: answer.access_token,
      expiresAt: Date.now() + answer.expires_in * 1000,
      refreshToken: answer.refresh_token,
      scopes: answer.scope.split(' '),
      patient: answer.patient,
      grantId: answer.grant_id,
      idToken: answer.id_token,
    };
  }

  async #post(path: string, form: Readonly<Record<string, string>>): Promise<string> {
    const { clientId, clientSecret } = this.#settings;
    const encode = (text: string) => new URLSearchParams({ a: text }).toString().slice(2);
    const body = new URLSearchParams(form);
    if (clientSecret === undefined) body.set('client_id', clientId);
    const headers =
      clientSecret === undefined
        ? undefined
        : { Authorization: `Basic ${btoa(`${encode(clientId)}:${encode(clientSecret)}`)}` };
    const type = 'application/x-www-form-urlencoded';
    try {
      // Codes and refresh tokens work once: a request whose response was lost must not be repeated.
      const request = { method: 'POST', path, body: body.toString(), type };
      return (await this.#transport.send(request, { headers, retries: 0 })).text;
    } catch (error) {
      throw error instanceof ApiError ? readOAuthError(error) : error;
    }
  }
}

function keepInMemory(first: Tokens): TokenStore {
  let kept = first;
  return {
    load: () => kept,
    save: (tokens) => {
      kept = tokens;
    },
    lock: (run) => run(),
  };
}

function readOAuthError({ text, status, requestId, message }: ApiError): OAuthError {
  let body: { error?: unknown; error_description?: unknown } = {};
  try {
    body = Object(JSON.parse(text));
  } catch {
    // The response may come from a proxy and have a different form.
  }
  const { error, error_description: description } = body;
  return typeof error === 'string'
    ? new OAuthError(error, String(description ?? ''), status, requestId)
    : new OAuthError('server_error', message, status, requestId);
}

/** Returns the nonce of an ID token. The token came from the service itself, so its signature needn't be checked. */
function readNonce(idToken: string): unknown {
  const [, payload = ''] = idToken.split('.');
  const text = atob(payload.replaceAll('-', '+').replaceAll('_', '/'));
  return (JSON.parse(text) as { nonce?: unknown }).nonce;
}

function random(): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(32)));
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}
