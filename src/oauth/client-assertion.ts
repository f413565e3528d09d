/**
 * Verifies client assertions, `private_key_jwt` (RFC 7523, section 3; OpenID Connect Core 1.0, section 9; SMART App Launch
 * 2.2, "Client Authentication: Asymmetric"; RFC 8725).
 */
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  errors,
  type JSONWebKeySet,
  type JWTPayload,
  type JWTVerifyGetKey,
  jwtVerify,
} from 'jose';
import { LRUCache } from 'lru-cache';
import { fetchJson, IssuerAway } from '../identity/fetch-json.ts';
import { IssuerKeys } from '../identity/keys.ts';
import type { CustomerHosts } from '../shared/customer-hosts.ts';
import type { Client } from './clients.ts';
import { ASSERTION_ALGORITHMS, type PublicKeySet, usableKeys } from './key-set.ts';

/** The only value of `client_assertion_type` (RFC 7523, section 2.2). */
export const ASSERTION_TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';

/** How far ahead `exp` may be, in seconds: SMART allows five minutes. */
const MAX_LIFETIME_S = 300;
/** Tolerated difference between a client's clock and ours, in seconds. */
const TOLERANCE_S = 10;
/** The maximum lengths of an assertion and a `jti`, in characters. */
const MAX_ASSERTION = 8_000;
const MAX_JTI = 500;
/** Number of clients whose fetched keys are kept. */
const MOST_CLIENTS = 1_000;
const TYPES = new Set(['jwt', 'client-authentication+jwt']);

/** Thrown when an assertion is refused. The message gives the reason, as a sentence for the client. */
export class AssertionFault extends Error {
  override readonly name = 'AssertionFault';
}

export interface VerifiedAssertion {
  readonly jti: string;
  /** In seconds since 1970. */
  readonly expiresAt: number;
}

/**
 * Returns the client that an assertion claims to come from, which is not verified; undefined for anything other than a JWT
 * with `sub`.
 */
export function assertedClient(assertion: string): string | undefined {
  if (assertion.length > MAX_ASSERTION) return undefined;
  try {
    const { sub } = decodeJwt(assertion);
    return typeof sub === 'string' ? sub : undefined;
  } catch {
    return undefined;
  }
}

/** Verifies assertions, and caches the keys that it fetches. */
export class AssertionVerifier {
  readonly #keys = new LRUCache<string, IssuerKeys>({ max: MOST_CLIENTS });

  constructor(
    private readonly deps: {
      /** Values of `aud` that stand for this server: the issuer, the token endpoint and the backchannel endpoint. */
      readonly audiences: readonly string[];
      /** Connects to the hosts in `jwks_uri`. */
      readonly hosts: CustomerHosts;
      /** Called whenever a client's keys can't be fetched; keys that were fetched before still work. */
      readonly onAway: (jwksUri: string, error: Error) => void;
      /** The clock, in ms. */
      readonly now: () => number;
    },
  ) {}

  /**
   * Verifies a client's assertion, but doesn't check whether its `jti` is new.
   * @throws AssertionFault
   */
  async verify(client: Client, assertion: string): Promise<VerifiedAssertion> {
    if (assertion.length > MAX_ASSERTION)
      throw new AssertionFault(`client_assertion must have at most ${MAX_ASSERTION} characters`);
    const find = this.#fetchKeys(client);
    if (find === undefined) throw new AssertionFault('this client has registered no keys');
    const payload = await this.#signed(client, assertion, find);
    const { aud, exp = 0, iat = 0 } = payload;
    const jti = nonEmptyText(payload.jti);
    const now = this.deps.now() / 1_000;
    // jose accepts an `aud` if any member matches. If `aud` also named another server, that server could use the assertion
    // here.
    const audiences = typeof aud === 'string' ? [aud] : (aud ?? []);
    if (!audiences.every((each) => this.deps.audiences.includes(each)))
      throw new AssertionFault('aud of the assertion must name only this server');
    if (exp > now + MAX_LIFETIME_S + TOLERANCE_S)
      throw new AssertionFault('exp of the assertion must be at most 5 minutes ahead');
    if (iat > now + TOLERANCE_S) throw new AssertionFault('iat of the assertion must not be in the future');
    if (jti === undefined || jti.length > MAX_JTI)
      throw new AssertionFault(`jti of the assertion must be text of 1 to ${MAX_JTI} characters`);
    return { jti, expiresAt: Math.ceil(exp) + TOLERANCE_S };
  }

  async #signed(client: Client, assertion: string, find: JWTVerifyGetKey): Promise<JWTPayload> {
    try {
      const { typ = 'jwt', jku } = decodeProtectedHeader(assertion);
      if (typeof typ !== 'string' || !TYPES.has(typ.toLowerCase()))
        throw new AssertionFault('typ of the assertion must be JWT');
      // Keys come only from the registration; a URL in the token must be the same as the registered one.
      if (jku !== undefined && jku !== client.jwksUri)
        throw new AssertionFault('jku of the assertion must be the registered jwks_uri');
      const { payload } = await jwtVerify(assertion, find, {
        algorithms: [...ASSERTION_ALGORITHMS],
        issuer: client.clientId,
        subject: client.clientId,
        audience: [...this.deps.audiences],
        requiredClaims: ['exp', 'jti'],
        clockTolerance: TOLERANCE_S,
        currentDate: new Date(this.deps.now()),
      });
      return payload;
    } catch (error) {
      throw toAssertionFault(error);
    }
  }

  #fetchKeys({ jwks, jwksUri }: Client): JWTVerifyGetKey | undefined {
    if (jwks !== undefined) return createLocalJWKSet(toKeySet(jwks));
    if (jwksUri === undefined) return undefined;
    const known = this.#keys.get(jwksUri) ?? this.#remember(jwksUri);
    return (header, token) => known.find(header, token);
  }

  #remember(jwksUri: string): IssuerKeys {
    const { hosts, now, onAway } = this.deps;
    const keys = new IssuerKeys(
      async () => toKeySet(usableKeys(await fetchJson(jwksUri, hosts))),
      now,
      (error) => onAway(jwksUri, error),
    );
    this.#keys.set(jwksUri, keys);
    return keys;
  }
}

/** Returns a claim if it is non-empty text. jose checks the types only of `iss`, `sub`, `aud` and the times. */
const nonEmptyText = (claim: unknown): string | undefined =>
  typeof claim === 'string' && claim !== '' ? claim : undefined;

const toKeySet = ({ keys }: PublicKeySet): JSONWebKeySet => ({ keys: keys.map((key) => ({ ...key })) });

function toAssertionFault(error: unknown): unknown {
  if (error instanceof AssertionFault) return error;
  if (error instanceof IssuerAway) return new AssertionFault('the keys at jwks_uri could not be fetched');
  if (error instanceof errors.JWTExpired) return new AssertionFault('the assertion has expired');
  if (error instanceof errors.JWTClaimValidationFailed)
    return new AssertionFault(`${error.claim} of the assertion is missing or wrong`);
  if (error instanceof errors.JWKSNoMatchingKey)
    return new AssertionFault('no registered key has the kid and alg of the assertion');
  if (error instanceof errors.JWKSMultipleMatchingKeys)
    return new AssertionFault('kid of the assertion is missing, and several registered keys could be meant');
  if (error instanceof errors.JOSEAlgNotAllowed)
    return new AssertionFault(`alg of the assertion must be one of ${ASSERTION_ALGORITHMS.join(', ')}`);
  if (error instanceof errors.JOSEError || error instanceof TypeError)
    return new AssertionFault('the assertion is not a valid signed JWT of this client');
  return error;
}
