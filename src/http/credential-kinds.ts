/**
 * Kinds of credentials, and access tokens (`at_…`: RFC 6750; docs/spec/decisions.md, section 9). A credential that works, but
 * is of another kind than an interface takes, is 403 and not 401: a new one of the same kind wouldn't help
 * (docs/spec/decisions.md, section 2). A request of the gateway has a person instead of a credential.
 */
import { hash } from 'node:crypto';
import type { Context } from 'koa';
import type { ApiKeyCaller } from '#queries/credentials.ts';
import { type Caller, filling, ownCaller, tenantId } from '#src/shared/access/caller.ts';
import { invalidToken } from '#src/shared/access/ended-token.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { FindToken, TokenCaller } from './ports/tokens.ts';

/** Matches texts that may be an access token. */
const ACCESS_TOKEN = /^at_[A-Za-z0-9_-]{16,256}$/;

/** Tells whether a credential may be an access token. */
export function isAccessToken(credential: string): boolean {
  return ACCESS_TOKEN.test(credential);
}

const OF_TOKENS = ['projects', 'consents'] as const;
const OF_KEYS = ['projects'] as const;

/** Returns the read models that say whether a credential works; they must not lag. */
export function credentialModels(credential: string): readonly string[] {
  return isAccessToken(credential) ? OF_TOKENS : OF_KEYS;
}

/**
 * Returns the caller of a token.
 * @param url of the request, without its query string
 * @throws Refusal unauthenticated (401) if the token was issued for other resources (RFC 8707, section 2)
 */
export function makeGrantCaller(token: TokenCaller, url: string): Caller {
  if (!covers(token.resources, url)) {
    throw invalidToken(
      'the access token is for another resource of this service; request one with the right `resource`',
    );
  }
  const { environment, isBeingFilled = false } = token;
  const project = { project: token.project, environment };
  if (token.kind === 'member') {
    const { issuer, subject, keyScopes } = token;
    return ownCaller(project, { kind: 'member', issuer, subject }, keyScopes, isBeingFilled);
  }
  const { applicationId } = token;
  if (token.kind === 'client')
    return ownCaller(project, { kind: 'client', applicationId }, token.keyScopes, isBeingFilled, token.types);
  const { grantId, ownerProject, record, patient, access, purpose } = token;
  // Its rights are the letters of its scopes, which each interaction checks.
  const own = ownCaller(project, { kind: 'grant', applicationId, grantId }, []);
  // A grant leads to a record in its application's environment, in any project.
  const owner = { project: ownerProject, environment };
  return {
    ...own,
    sees: {
      owner,
      ownerId: tenantId(owner),
      within: { record, patient, access, purpose },
      ...filling(owner, isBeingFilled),
    },
  };
}

/** Tells whether a URL is one of the resources, or below one. */
function covers(resources: readonly string[], url: string): boolean {
  return (
    resources.length === 0 ||
    resources.some((resource) => {
      const base = resource.replace(/\/+$/, '');
      return url === base || url.startsWith(`${base}/`);
    })
  );
}

/**
 * Returns the refusal (403) of a grant's token where none is taken. @param takes the credentials that are accepted
 * instead
 */
export function refusesGrants(takes = 'an API key or a token of client_credentials'): Refusal {
  return new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: `access tokens of a patient’s grant do not open this request, which takes ${takes}; docs/oauth.md lists what they open`,
  });
}

/** A kind of credential; `grant` is an access token of a patient's grant, `token` any other. */
type CredentialKind = 'api_key' | 'token' | 'grant' | 'id_token';

/**
 * Returns the person of an ID token.
 * @throws Refusal unauthenticated (401), unavailable (503)
 */
export type Identify = (token: string) => Promise<Identity>;

/** Finds the holder of each kind of credential, keys and tokens by their SHA-256. */
export interface FindHolder {
  readonly apiKey: ApiKeyCaller;
  readonly token: FindToken;
  readonly identify: Identify;
}

const API_KEY = /^sk_(?:test|live)_[A-Za-z0-9_-]{16,256}$/;
/** Matches three base64url parts separated by dots: a signed JWT (RFC 7515, section 7.1). Keys and tokens of ours have no dots. */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
/** Matches texts that are meant as a key or a token of this service, whether or not their form is right. */
const OWN = /^(?:sk_(?:test|live)|at)_/;

/** Tells whether a credential may be an API key. */
export function isApiKey(credential: string): boolean {
  return API_KEY.test(credential);
}

/** Tells whether a credential may be an ID token. */
export function isJwt(credential: string): boolean {
  return JWT.test(credential);
}

/** Returns the kind of a credential that works now; undefined for one that is unknown, expired or revoked. */
export async function findKind(
  { apiKey, token, identify }: FindHolder,
  credential: string,
): Promise<CredentialKind | undefined> {
  const sha256 = (): string => hash('sha256', credential);
  if (isApiKey(credential)) return (await apiKey(sha256())) === undefined ? undefined : 'api_key';
  if (isAccessToken(credential)) {
    const found = await token(sha256());
    return found === undefined ? undefined : found.kind === 'grant' ? 'grant' : 'token';
  }
  if (!isJwt(credential)) return undefined;
  return identify(credential).then(
    () => 'id_token' as const,
    (error: unknown) => {
      // Also while its issuer can't be reached: then nobody can tell whether it works.
      if (error instanceof Refusal) return undefined;
      throw error;
    },
  );
}

const NEEDED =
  'this interface requires an ID token (JWT) from an OpenID Connect issuer, as Authorization: Bearer';

/**
 * Returns the person of a credential where only ID tokens are taken.
 * @throws Refusal unauthenticated (401); forbidden (403) for another kind; unavailable (503) if the issuer's keys can't be
 *   fetched
 */
export async function requireIdentity(find: FindHolder, credential: string): Promise<Identity> {
  if (!OWN.test(credential)) return find.identify(credential);
  const what = credential.startsWith('sk_') ? 'API keys' : 'access tokens';
  const diagnostics = `${what} are for /fhir/R4 and /v1; ${NEEDED}`;
  throw (await findKind(find, credential)) === undefined
    ? unauthenticated(diagnostics, 'invalid_token')
    : wrongKind(diagnostics);
}

const CHALLENGE = 'Bearer realm="annal"';

/** Returns the refusal (401) of a credential that is missing, unknown, expired or revoked. @param error of RFC 6750 */
export function unauthenticated(diagnostics: string, error?: string): Refusal {
  const challenge = error === undefined ? CHALLENGE : `${CHALLENGE}, error="${error}"`;
  return new Refusal('unauthenticated', { code: 'login', diagnostics }, { 'WWW-Authenticate': challenge });
}

/** Returns the refusal (403) of a credential that works, but not here. @param diagnostics names the right kind */
export function wrongKind(diagnostics: string): Refusal {
  return new Refusal('forbidden', { code: 'forbidden', diagnostics });
}

/** A signed-in person, checked only for this request. */
export interface Visitor {
  readonly identity: Identity;
  /** Names the request where others are named by their credential. No header can carry it, because it has a space. */
  readonly credential: string;
  /** The `id` of their session. */
  readonly session: string;
  /**
   * Returns the person's rights in the project that the request names, by their current role.
   * @throws Refusal malformed (400), not_found (404), forbidden (403)
   */
  readonly caller: () => Promise<Caller>;
  /** True if the request says why it needs records of production. */
  readonly hasReason: boolean;
  /**
   * Returns why the person needs records of production, which are open for some time after a sign-in.
   * @throws Refusal unauthenticated (401), malformed (400)
   */
  readonly reason: () => string;
}

const visitors = new WeakMap<Context, Visitor>();

/** Notes the person behind a request. */
export function setVisitor(ctx: Context, visitor: Visitor): void {
  visitors.set(ctx, visitor);
}

/** Returns the person behind a request of the gateway; undefined for all other requests. */
export function findVisitor(ctx: Context): Visitor | undefined {
  return visitors.get(ctx);
}
