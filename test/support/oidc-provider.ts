/**
 * Runs a real OpenID Connect provider in the test's own process, over real HTTP:
 * https://github.com/panva/node-oidc-provider.
 */
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import { exportJWK, generateKeyPair, importJWK, type JWK, type JWTPayload, SignJWT } from 'jose';
import type Provider from 'oidc-provider';
import { portOf } from './process.ts';

/** The dashboard's client id at the provider. */
export const CLIENT = 'dashboard';
const REDIRECT = 'https://dashboard.example.org/callback';

/** A running provider. */
export interface TestIssuer {
  /** The provider's identifier, without a trailing slash. */
  readonly url: string;
  /** Requests answered so far, by path. */
  readonly asked: readonly string[];
  /**
   * Signs in with an authorization code and PKCE, as a browser does.
   * @returns the ID token
   */
  signIn(login: string): Promise<string>;
  /** Returns a token with arbitrary content, signed with the provider's newest key. */
  sign(claims: JWTPayload, header?: Readonly<Record<string, unknown>>): Promise<string>;
  /** Returns the newest key without its private part. */
  publicKey(): JWK;
  /**
   * Starts signing with a new key.
   * @param keep whether the old keys continue to be published
   */
  rotate(keep: boolean): Promise<void>;
  /** Accepts an additional redirect URI from now on. */
  register(redirectUri: string): Promise<void>;
  /** Answers every request with the given status; undefined restores normal answers. */
  fail(status: number | undefined): void;
  stop(): Promise<void>;
}

/** The settings of a provider. */
export interface IssuerOptions {
  /** The secret of the provider's client. By default, the client is public. */
  readonly secret?: string;
  /** True if name and address are available only from the userinfo endpoint, which the standard prefers. */
  readonly claimsByUserinfo?: boolean;
}

/** Starts a provider. */
export async function startIssuer(options: IssuerOptions = {}): Promise<TestIssuer> {
  let answer: RequestListener = (_, response) => response.writeHead(503).end();
  let failing: number | undefined;
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    if (failing === undefined) answer(request, response);
    else response.writeHead(failing).end();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${portOf(server)}`;
  let keys: JWK[] = [];
  const newest = (): JWK => keys.at(0) ?? {};
  const redirectUris = [REDIRECT];
  const renew = async (): Promise<void> => {
    answer = (await quietly(() => providerOf(url, keys, redirectUris, options))).callback();
  };
  const rotate = async (keep: boolean): Promise<void> => {
    const { privateKey } = await generateKeyPair('RS256', { extractable: true });
    const kid = randomBytes(6).toString('hex');
    const made = { ...(await exportJWK(privateKey)), kid, use: 'sig', alg: 'RS256' };
    keys = [made, ...(keep ? keys : [])];
    await renew();
  };
  await rotate(false);
  return {
    url,
    asked,
    signIn: (login) => signIn(url, login),
    async sign(claims, header = {}) {
      const { kid, ...key } = newest();
      const signing = await importJWK(key, 'RS256');
      const protectedHeader = { alg: 'RS256', typ: 'JWT', ...(kid === undefined ? {} : { kid }), ...header };
      return new SignJWT(claims).setProtectedHeader(protectedHeader).sign(signing);
    },
    publicKey() {
      const { kty, n, e, kid } = newest();
      return { kty, n, e, kid } as JWK;
    },
    rotate,
    async register(redirectUri) {
      redirectUris.push(redirectUri);
      await renew();
    },
    fail(status) {
      failing = status;
    },
    async stop() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

/** Runs work without the provider's console warnings about settings that matter only in production. */
async function quietly<T>(work: () => Promise<T>): Promise<T> {
  const { warn, info } = console;
  console.warn = console.info = () => undefined;
  try {
    return await work();
  } finally {
    Object.assign(console, { warn, info });
  }
}

async function providerOf(
  url: string,
  keys: readonly JWK[],
  redirectUris: readonly string[],
  { secret, claimsByUserinfo = false }: IssuerOptions,
): Promise<Provider> {
  const { default: Provider } = await import('oidc-provider');
  return new Provider(url, {
    clients: [
      {
        client_id: CLIENT,
        redirect_uris: [...redirectUris],
        grant_types: ['authorization_code'],
        response_types: ['code'],
        ...(secret === undefined
          ? { token_endpoint_auth_method: 'none' as const }
          : { token_endpoint_auth_method: 'client_secret_basic' as const, client_secret: secret }),
      },
    ],
    jwks: { keys: keys.map((key) => ({ ...key })) as never },
    cookies: { keys: ['a test'] },
    // Claims are included in the ID token, as most providers do, and not only returned by the userinfo endpoint.
    conformIdTokenClaims: claimsByUserinfo,
    claims: { openid: ['sub'], email: ['email', 'email_verified'], profile: ['name'] },
    findAccount: (_, id) => ({
      accountId: id,
      claims: () => ({ sub: id, email: `${id}@example.org`, email_verified: true, name: `Person ${id}` }),
    }),
    ttl: { IdToken: 3600, AccessToken: 600, Session: 600, Interaction: 600, Grant: 600 },
  });
}

/**
 * Signs in through the authorization request, sign-in form, consent form, code and token. Each step uses the links and forms
 * of the previous response.
 */
async function signIn(url: string, login: string): Promise<string> {
  const browser = new Browser();
  const verifier = randomBytes(32).toString('base64url');
  const query = new URLSearchParams({
    client_id: CLIENT,
    response_type: 'code',
    scope: 'openid email profile',
    redirect_uri: REDIRECT,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  });
  let page = await browser.open(`${url}/auth?${query}`);
  for (const form of [{ prompt: 'login', login, password: 'any' }, { prompt: 'consent' }]) {
    const action = /action="([^"]+)"/.exec(page.text)?.[1];
    if (action === undefined) throw new Error(`no form: ${page.text.slice(0, 500)}`);
    page = await browser.open(new URL(action, page.url).href, new URLSearchParams(form));
  }
  const code = new URL(page.url).searchParams.get('code') ?? '';
  const answer = await fetch(`${url}/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      client_id: CLIENT,
      redirect_uri: REDIRECT,
      code,
      code_verifier: verifier,
    }),
  });
  const { id_token: token } = (await answer.json()) as { id_token?: string };
  if (token === undefined) throw new Error(`no ID token: ${answer.status}`);
  return token;
}

/** Follows redirects, keeping cookies, until it reaches the client's own address. */
class Browser {
  readonly #cookies = new Map<string, string>();

  async open(start: string, form?: URLSearchParams): Promise<{ url: string; text: string }> {
    let url = start;
    let body = form;
    for (let hop = 0; hop < 10; hop += 1) {
      if (url.startsWith(REDIRECT)) return { url, text: '' };
      const response = await fetch(url, {
        method: body === undefined ? 'GET' : 'POST',
        redirect: 'manual',
        headers: { Cookie: [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
        ...(body === undefined ? {} : { body }),
      });
      for (const cookie of response.headers.getSetCookie()) {
        const [, name, value] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
        if (name !== undefined && value !== undefined) this.#cookies.set(name, value);
      }
      const location = response.headers.get('location');
      if (location === null) return { url, text: await response.text() };
      url = new URL(location, url).href;
      body = undefined;
    }
    throw new Error('too many redirects');
  }
}
