/** Reads a request's credential. There must be exactly one, in a header (docs/spec/interface.md, section 5; RFC 6750). */
import { hash } from 'node:crypto';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import { type Caller, isSameCaller, mayRead } from '#src/shared/access/caller.ts';
import { ENDED_TOKEN, invalidToken } from '#src/shared/access/ended-token.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import { Refusal } from '#src/shared/refusal.ts';
import {
  type FindHolder,
  findKind,
  findVisitor,
  isAccessToken,
  isApiKey,
  isJwt,
  makeGrantCaller,
  refusesGrants,
  requireIdentity,
  unauthenticated,
  type Visitor,
  wrongKind,
} from './credential-kinds.ts';
import { hasSeveralValues } from './path.ts';

/** ID tokens may be long; servers accept 16 KB of headers in total. */
const BEARER = /^Bearer +([\x21-\x7e]{1,12000}) *$/i;
const IN_QUERY =
  /(?:^|&)(?:access_token|api_?key|_key|x-api-key|authorization)=|=sk_(?:test|live)_|=at_[\w-]{40}/i;
const CHALLENGE = 'Bearer realm="annal"';

/**
 * Returns a request's credential.
 * @param example an example of a valid credential, for the error message if the request has none
 * @throws Refusal malformed (400) if there are two different credentials or one in the query string; unauthenticated (401) if
 *   there is none
 */
export function readCredential(
  { headers, rawHeaders }: Pick<IncomingMessage, 'headers' | 'rawHeaders'>,
  querystring: string,
  example = 'Authorization: Bearer <key> or X-Api-Key',
): string {
  refuseInQuery(querystring);
  const apiKey = headers['x-api-key'];
  const bearer = headers.authorization;
  if (typeof apiKey === 'string' && isJwt(apiKey.trim()))
    throw unauthenticated('an ID token must be sent as Authorization: Bearer', 'invalid_token');
  if (bearer === undefined) {
    if (typeof apiKey === 'string' && isAccessToken(apiKey))
      throw unauthenticated('an access token must be sent as Authorization: Bearer');
    if (typeof apiKey === 'string' && apiKey !== '') return apiKey;
    throw unauthenticated(`the credential is missing; send ${example}`);
  }
  if (hasSeveralValues(rawHeaders, 'authorization')) {
    throw new Refusal('malformed', {
      code: 'login',
      diagnostics: 'Authorization occurs twice with different credentials; send one',
    });
  }
  const token = BEARER.exec(bearer)?.[1];
  if (token === undefined)
    throw unauthenticated('Authorization must be Bearer and a credential, for example Bearer sk_test_…');
  if (apiKey !== undefined && apiKey !== token) {
    throw new Refusal('malformed', {
      code: 'login',
      diagnostics: 'Authorization and X-Api-Key carry different credentials; send one',
    });
  }
  return token;
}

/**
 * Refuses a credential in the query string.
 * @throws Refusal malformed (400)
 */
export function refuseInQuery(querystring: string): void {
  if (querystring === '' || !IN_QUERY.test(querystring)) return;
  throw new Refusal('malformed', {
    code: 'login',
    diagnostics:
      'a credential must not be in the query string; send it as Authorization: Bearer or X-Api-Key',
  });
}

/**
 * Returns a request's credential; on the gateway, a string that represents the session.
 * @throws Refusal in the same cases as `readCredential`
 */
export function credentialFor(ctx: Context, example?: string): string {
  return findVisitor(ctx)?.credential ?? readCredential(ctx.req, ctx.querystring, example);
}

/** Returns the credential in `Authorization` on a route where it is optional; undefined if there is none. */
export function readBearer({ authorization }: IncomingHttpHeaders): string | undefined {
  return authorization === undefined ? undefined : BEARER.exec(authorization)?.[1];
}

/** Maximum number of keys whose callers are cached. */
const REMEMBERED = 10_000;

/** A credential that is being checked. */
export interface Authentication {
  /**
   * Rejects with Refusal unauthenticated (401) if the credential is unknown, revoked or malformed, and with forbidden (403) if
   * it is a grant's access token or an ID token.
   */
  readonly caller: Promise<Caller>;
  /**
   * The caller when the credential was last used. That is enough to prepare a response while the credential is being checked,
   * but never to send one: a key's owner doesn't change, but the key may have been revoked.
   */
  readonly expected: Caller | undefined;
}

/**
 * Counts a caller's request.
 * @throws Refusal throttled (429)
 */
type Admit = (ctx: Context, caller: Caller) => void | Promise<void>;

/** Authenticates callers. */
export class Authenticator {
  readonly #find: FindHolder;
  readonly #baseUrl: string;
  readonly #admit: Admit;
  readonly #seen = new LRUCache<string, Caller>({ max: REMEMBERED });

  /**
   * @param find looks up the holders of credentials
   * @param baseUrl the service's URL; the resources that tokens name begin with it
   * @param admit counts the request; throws Refusal throttled (429)
   */
  constructor(find: FindHolder, baseUrl: string, admit: Admit) {
    this.#find = find;
    this.#baseUrl = baseUrl;
    this.#admit = admit;
  }

  /**
   * Starts looking up the caller in the database. Every request does this, because a key may have been revoked. Nothing is
   * prepared for callers who have reached their rate limit.
   */
  begin(credential: string, ctx: Context): Authentication {
    const visitor = findVisitor(ctx);
    if (visitor !== undefined) return { caller: this.#ofVisitor(visitor, ctx), expected: undefined };
    const sha256 = hash('sha256', credential);
    const known = this.#seen.get(sha256);
    const counting = known === undefined ? undefined : this.#count(ctx, known);
    return {
      caller: this.#ask(credential, sha256, ctx, known === undefined ? 'not counted' : counting),
      expected: counting === undefined ? known : undefined,
    };
  }

  /**
   * Looks up the caller for an access token in the database, on every request and without a cache.
   * @param resource the resource that the token must name; by default, the token may be for any resource above the URL
   * @throws Refusal unauthenticated (401), throttled (429)
   */
  async ofToken(credential: string, ctx: Context, resource?: string): Promise<Caller> {
    const token = await this.#find.token(hash('sha256', credential));
    if (token === undefined) throw invalidToken(ENDED_TOKEN);
    if (resource !== undefined && !token.resources.includes(resource))
      throw invalidToken(`the access token is not for ${resource}; request one with resource=${resource}`);
    const caller = makeGrantCaller(token, this.#baseUrl + ctx.path);
    ctx.state.caller = caller;
    const counted = this.#admit(ctx, caller);
    if (counted !== undefined) await counted;
    return caller;
  }

  /**
   * Identifies the sender of a request that was refused before its credential was checked, so that it appears in the project's
   * log and counts against its rate limit.
   */
  async recognize(ctx: Context): Promise<void> {
    try {
      const credential = credentialFor(ctx);
      if (isAccessToken(credential)) await this.ofToken(credential, ctx);
      else if (findVisitor(ctx) !== undefined || isApiKey(credential))
        await this.begin(credential, ctx).caller;
    } catch {
      // The response is still the first refusal.
    }
  }

  /**
   * Returns the caller for a signed-in person. The gateway has already counted the request.
   * @throws Refusal malformed (400), not_found (404), forbidden (403)
   */
  async #ofVisitor(visitor: Visitor, ctx: Context): Promise<Caller> {
    const caller = await visitor.caller();
    ctx.state.caller = caller;
    return caller;
  }

  /**
   * Checks that an access token still works, without counting a request.
   * @throws Refusal unauthenticated (401)
   */
  async confirm(credential: string): Promise<void> {
    if ((await this.#find.token(hash('sha256', credential))) === undefined) throw invalidToken(ENDED_TOKEN);
  }

  /**
   * Refuses a grant's access token on a route that needs no credential.
   * @throws Refusal forbidden (403)
   */
  async refuseGrant(credential: string): Promise<void> {
    if (isAccessToken(credential) && (await findKind(this.#find, credential)) === 'grant')
      throw refusesGrants('no credential');
  }

  /**
   * Returns the person that a credential identifies, like the function `requireIdentity`.
   * @throws Refusal 401 403 503
   */
  requireIdentity(credential: string): Promise<Identity> {
    return requireIdentity(this.#find, credential);
  }

  /** Returns whether a credential works on any of the interfaces. */
  async works(credential: string): Promise<boolean> {
    return (await findKind(this.#find, credential)) !== undefined;
  }

  /** Counts a request; returns undefined if it may continue at once. */
  #count(ctx: Context, caller: Caller): Promise<void> | undefined {
    try {
      const admitted = this.#admit(ctx, caller);
      admitted?.catch(() => undefined);
      return admitted ?? undefined;
    } catch (error) {
      const refused = Promise.reject(error);
      refused.catch(() => undefined);
      return refused;
    }
  }

  async #ask(
    credential: string,
    sha256: string,
    ctx: Context,
    counting: Promise<void> | 'not counted' | undefined,
  ): Promise<Caller> {
    const caller = isApiKey(credential) ? await this.#find.apiKey(sha256) : undefined;
    if (caller === undefined) {
      this.#seen.delete(sha256);
      throw isJwt(credential)
        ? await this.#refusesJwt(credential)
        : unauthenticated(UNKNOWN, 'invalid_token');
    }
    if (!this.#seen.has(sha256)) this.#seen.set(sha256, caller);
    ctx.state.caller = caller;
    const counted = counting === 'not counted' ? this.#count(ctx, caller) : counting;
    if (counted !== undefined) await counted;
    return caller;
  }

  /** Returns the refusal for an ID token: 403 if it works elsewhere, otherwise 401. */
  async #refusesJwt(credential: string): Promise<Refusal> {
    return (await this.works(credential))
      ? wrongKind(NO_ID_TOKENS)
      : unauthenticated(NO_ID_TOKENS, 'invalid_token');
  }
}

const UNKNOWN =
  'the credential is unknown, expired or revoked; make an API key with POST /admin/projects/{project_id}/keys, or get an access token at /oauth/token';
const NO_ID_TOKENS =
  'this interface requires an API key (sk_test_… or sk_live_…) or an access token (at_…); ID tokens are for /admin and /me';

/**
 * Runs a read on behalf of the caller who last used the credential while the database confirms the credential, and returns the
 * result only after that. So two round trips take the time of one.
 * @throws Refusal unauthenticated (401), forbidden (403), throttled (429), and the errors of `read`
 */
export async function readAs<Result>(
  { expected, caller }: Authentication,
  read: (caller: Caller) => Promise<Result>,
): Promise<Result> {
  const prepared = expected !== undefined && mayRead(expected) ? begun(read, expected) : undefined;
  const actual = await caller;
  requireScope(actual, 'read');
  const isPrepared = expected !== undefined && isSameCaller(expected, actual);
  return isPrepared && prepared !== undefined ? prepared : read(actual);
}

/** Begins a read. Its errors, even synchronous ones, are held back until the caller awaits the result. */
function begun<Result>(read: (caller: Caller) => Promise<Result>, caller: Caller): Promise<Result> {
  let result: Promise<Result>;
  try {
    result = read(caller);
  } catch (error) {
    result = Promise.reject(error);
  }
  result.catch(() => undefined);
  return result;
}

/** Returns the refusal (403) for a caller without a scope. For an OAuth client, it has the form in RFC 6750, section 3.1. */
export function lacksScope({ calls }: Caller, scope: 'read' | 'write'): Refusal {
  const diagnostics = `the credential lacks the scope ${scope}`;
  const asked = scope === 'read' ? 'system/*.rs' : 'system/*.cruds';
  const challenge = { 'WWW-Authenticate': `${CHALLENGE}, error="insufficient_scope", scope="${asked}"` };
  return new Refusal(
    'forbidden',
    { code: 'forbidden', diagnostics },
    calls.credential.kind === 'client' ? challenge : {},
  );
}

/**
 * Checks that the caller has a scope.
 * @throws Refusal forbidden (403)
 */
export function requireScope(caller: Caller, scope: 'read' | 'write'): void {
  if (!caller.calls.scopes.includes(scope)) throw lacksScope(caller, scope);
}
