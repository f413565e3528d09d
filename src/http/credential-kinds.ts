/**
 * Distinguishes kinds of credentials, including access tokens (`at_…`: RFC 6750; docs/spec/decisions.md, section 9). A
 * credential that works but is of a kind that the interface doesn't accept gets 403, not 401, because a new credential of the
 * same kind wouldn't help (docs/spec/decisions.md, section 2). A request through the gateway has a person instead of a
 * credential.
 */
import { hash } from 'node:crypto';
import type { Context } from 'koa';
import type { ApiKeyCaller } from '#queries/credentials.ts';
import { type Caller, filling, ownCaller, tenantId } from '#src/shared/access/caller.ts';
import { invalidToken } from '#src/shared/access/ended-token.ts';
import type { Identity } from '#src/shared/access/identity.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { FindToken, TokenCaller } from './ports/tokens.ts';

/** Matches strings in the form of an access token. */
const ACCESS_TOKEN = /^at_[A-Za-z0-9_-]{16,256}$/;

/** Returns whether a credential has the form of an access token. */
export function isAccessToken(credential: string): boolean {
  return ACCESS_TOKEN.test(credential);
}

const OF_TOKENS = ['projects', 'consents'] as const;
const OF_KEYS = ['projects'] as const;

/** Returns the read models that determine whether a credential works. They must not lag behind. */
export function credentialModels(credential: string): readonly string[] {
  return isAccessToken(credential) ? OF_TOKENS : OF_KEYS;
}

/**
 * Returns the caller for a token.
 * @param url the request's URL, without its query string
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
  // The token's rights are the letters in its scopes. Each interaction checks them.
  const own = ownCaller(project, { kind: 'grant', applicationId, grantId }, []);
  // A grant gives access to a record in its application's environment, whichever project the record belongs to.
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

/** Returns whether a URL is one of the resources or is below one of them. */
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
 * Returns the refusal (403) for a grant's token on a route that doesn't accept grants' tokens.
 * @param takes the credentials that are accepted instead
 */
export function refusesGrants(takes = 'an API key or a token of client_credentials'): Refusal {
  return new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: `access tokens of a patient’s grant do not open this request, which takes ${takes}; docs/oauth.md lists what they open`,
  });
}

/** A kind of credential. `grant` is an access token under a patient's grant, `token` any other access token. */
type CredentialKind = 'api_key' | 'token' | 'grant' | 'id_token';

/**
 * Returns the person that an ID token identifies.
 * @throws Refusal unauthenticated (401), unavailable (503)
 */
export type Identify = (token: string) => Promise<Identity>;

/** Finds the holder of each kind of credential. Keys and tokens are looked up by their SHA-256 hash. */
export interface FindHolder {
  readonly apiKey: ApiKeyCaller;
  readonly token: FindToken;
  readonly identify: Identify;
}

const API_KEY = /^sk_(?:test|live)_[A-Za-z0-9_-]{16,256}$/;
/**
 * Matches three base64url parts separated by dots: a signed JWT (RFC 7515, section 7.1). This service's own keys and tokens
 * contain no dots.
 */
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;
/** Matches strings that are meant to be a key or token of this service, even if malformed. */
const OWN = /^(?:sk_(?:test|live)|at)_/;

/** Returns whether a credential has the form of an API key. */
export function isApiKey(credential: string): boolean {
  return API_KEY.test(credential);
}

/** Returns whether a credential has the form of an ID token. */
export function isJwt(credential: string): boolean {
  return JWT.test(credential);
}

/** Returns the kind of a credential that works now; undefined if it is unknown, expired or revoked. */
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
      // This includes the case that the issuer can't be reached, because it is then unknown whether the credential works.
      if (error instanceof Refusal) return undefined;
      throw error;
    },
  );
}

const NEEDED =
  'this interface requires an ID token (JWT) from an OpenID Connect issuer, as Authorization: Bearer';

/**
 * Returns the person that a credential identifies, on routes that accept only ID tokens.
 * @throws Refusal unauthenticated (401); forbidden (403) for another kind of credential; unavailable (503) if the issuer's
 *   keys can't be fetched
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

/**
 * Returns the refusal (401) for a credential that is missing, unknown, expired or revoked.
 * @param error an error code from RFC 6750
 */
export function unauthenticated(diagnostics: string, error?: string): Refusal {
  const challenge = error === undefined ? CHALLENGE : `${CHALLENGE}, error="${error}"`;
  return new Refusal('unauthenticated', { code: 'login', diagnostics }, { 'WWW-Authenticate': challenge });
}

/**
 * Returns the refusal (403) for a credential that works, but not here.
 * @param diagnostics names the right kind
 */
export function wrongKind(diagnostics: string): Refusal {
  return new Refusal('forbidden', { code: 'forbidden', diagnostics });
}

/** A signed-in person, verified for this request only. */
export interface Visitor {
  readonly identity: Identity;
  /**
   * Identifies the request in places where other requests are identified by their credential. It contains a space, so no
   * client can send it in a header.
   */
  readonly credential: string;
  /** The `id` of the person's session. */
  readonly session: string;
  /**
   * Returns the person's rights in the project that the request names, based on their current role.
   * @throws Refusal malformed (400), not_found (404), forbidden (403)
   */
  readonly caller: () => Promise<Caller>;
  /** True if the request gives a reason why the person needs production records. */
  readonly hasReason: boolean;
  /**
   * Returns why the person needs production records, which can be read for a limited time after sign-in.
   * @throws Refusal unauthenticated (401), malformed (400)
   */
  readonly reason: () => string;
}

const visitors = new WeakMap<Context, Visitor>();

/** Records which person made a request. */
export function setVisitor(ctx: Context, visitor: Visitor): void {
  visitors.set(ctx, visitor);
}

/** Returns the person who made a request through the gateway; undefined for all other requests. */
export function findVisitor(ctx: Context): Visitor | undefined {
  return visitors.get(ctx);
}
