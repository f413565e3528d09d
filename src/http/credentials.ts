/** Credentials of a request: exactly one, in a header (interface.md, section 5; RFC 6750). */
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import type { ApiKeyCaller } from '#queries/credentials.ts';
import type { Caller } from '#src/shared/caller.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** ID tokens may be long; servers take 16 KB of headers in all. */
const BEARER = /^Bearer +([\x21-\x7e]{1,12000}) *$/i;
const IN_QUERY = /(?:^|&)(?:access_token|api_?key|_key|x-api-key|authorization)=|=sk_(?:test|live)_/i;
const CHALLENGE = 'Bearer realm="annal"';

/**
 * The credential that a request carries.
 * @throws Refusal malformed (400) for two different ones or one in the query string; unauthenticated (401) for none.
 */
export function credentialOf(headers: IncomingHttpHeaders, querystring: string): string {
  if (querystring !== '' && IN_QUERY.test(querystring)) {
    throw new Refusal('malformed', {
      code: 'login',
      diagnostics:
        'a credential in the query string is refused: send it as Authorization: Bearer or X-Api-Key',
    });
  }
  const apiKey = headers['x-api-key'];
  const bearer = headers.authorization;
  if (bearer === undefined) {
    if (typeof apiKey === 'string' && apiKey !== '') return apiKey;
    throw unauthenticated('a credential is needed: Authorization: Bearer or X-Api-Key');
  }
  const token = BEARER.exec(bearer)?.[1];
  if (token === undefined) throw unauthenticated('Authorization must be Bearer and a credential');
  if (apiKey !== undefined && apiKey !== token) {
    throw new Refusal('malformed', {
      code: 'login',
      diagnostics: 'Authorization and X-Api-Key carry different credentials; send one',
    });
  }
  return token;
}

const API_KEY = /^sk_(?:test|live)_[A-Za-z0-9_-]{16,256}$/;

/** Three parts of base64url with dots between them, the first of which begins with a brace (RFC 7519). */
const JWT = /^eyJ[\w-]*\.[\w-]+\.[\w-]*$/;

/** How many keys' callers are remembered. */
const REMEMBERED = 10_000;

/** A credential that is being checked. */
export interface Authentication {
  /** Rejects with Refusal unauthenticated (401) for a credential that is unknown, revoked or no credential at all. */
  readonly caller: Promise<Caller>;
  /**
   * Who called with it before: good for preparing an answer meanwhile, never for giving one. Whose a key is does not
   * change; whether it still works does.
   */
  readonly expected: Caller | undefined;
}

/** Tells who is calling. */
export class Authenticator {
  readonly #apiKey: ApiKeyCaller;
  readonly #admit: (ctx: Context, caller: Caller) => void | Promise<void>;
  readonly #seen = new LRUCache<string, Caller>({ max: REMEMBERED });

  /**
   * @param apiKey looks a key up by its hash.
   * @param admit counts the request for who was found. @throws Refusal throttled (429)
   */
  constructor(apiKey: ApiKeyCaller, admit: (ctx: Context, caller: Caller) => void | Promise<void>) {
    this.#apiKey = apiKey;
    this.#admit = admit;
  }

  /**
   * Begins to ask the database who is calling: at every request, for a key works until it is revoked. The answer, too,
   * is for who has requests left.
   */
  begin(credential: string, ctx: Context): Authentication {
    const sha256 = hash('sha256', credential);
    return { caller: this.#ask(credential, sha256, ctx), expected: this.#seen.get(sha256) };
  }

  async #ask(credential: string, sha256: string, ctx: Context): Promise<Caller> {
    const caller = API_KEY.test(credential) ? await this.#apiKey(sha256) : undefined;
    if (caller === undefined) {
      this.#seen.delete(sha256);
      throw unauthenticated(
        JWT.test(credential)
          ? 'an ID token belongs on /admin; this interface takes an API key (sk_test_ or sk_live_)'
          : 'the credential is unknown or revoked',
        'invalid_token',
      );
    }
    if (!this.#seen.has(sha256)) this.#seen.set(sha256, caller);
    const admitted = this.#admit(ctx, caller);
    if (admitted !== undefined) await admitted;
    return caller;
  }
}

/** @throws Refusal forbidden (403) when the credential does not allow it. */
export function requireScope(caller: Caller, scope: 'read' | 'write'): void {
  if (caller.scopes.includes(scope)) return;
  throw new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: `the credential lacks the scope ${scope}`,
  });
}

function unauthenticated(diagnostics: string, error?: string): Refusal {
  const challenge = error === undefined ? CHALLENGE : `${CHALLENGE}, error="${error}"`;
  return new Refusal('unauthenticated', { code: 'login', diagnostics }, { 'WWW-Authenticate': challenge });
}
