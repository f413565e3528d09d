/** Verifies ID tokens (OpenID Connect Core 1.0, section 3.1.3.7; RFC 7519; RFC 8725) and returns the people they identify. */
import {
  decodeJwt,
  decodeProtectedHeader,
  type JWTPayload,
  jwtVerify,
  type ProtectedHeaderParameters,
} from 'jose';
import { LRUCache } from 'lru-cache';
import type { Identity, SsoClientsOf } from '#src/shared/access/identity.ts';
import { isIssuerUrl, type TrustedIssuer } from '#src/shared/access/issuers.ts';
import { type CustomerHosts, customerHosts, type Resolve } from '#src/shared/customer-hosts.ts';
import { type Refusal, unavailable } from '#src/shared/refusal.ts';
import { readIdentity } from './claims.ts';
import { IssuerAway } from './fetch-json.ts';
import { fetchKeys } from './fetch-keys.ts';
import { IssuerKeys, type KeySource, type KeysState } from './keys.ts';
import { refusedToken, refuseJoseError, WRONG_AUDIENCE, WRONG_ISSUE_TIME } from './token-refusal.ts';

/**
 * Only asymmetric algorithms. `none` is never accepted, nor is an HMAC, because the issuer and the verifier would share its
 * key (RFC 8725, section
 * 3.1).
 */
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
] as const;

/** Tolerated difference between our clock and an issuer's, in seconds. */
const TOLERANCE_S = 60;
/** Maximum length of a token, in characters; servers accept 16 KB of headers in total. */
const MOST_CHARACTERS = 12_000;
/** Maximum number of issuers whose keys are cached. */
const MOST_ISSUERS = 1_000;
/** `Retry-After` if an issuer is unreachable, in seconds. */
const RETRY_S = 10;

/** An issuer from the installation's settings, or the development issuer, which has its own keys. */
export interface Issuer extends TrustedIssuer {
  /** Where its keys come from. Default: discovery over HTTP. */
  readonly keys?: KeySource;
}

/** An issuer with its keys. */
export interface IssuerState extends KeysState {
  readonly issuer: string;
  /** The accepted audiences; undefined if only organizations trust the issuer. */
  readonly audiences: readonly string[] | undefined;
}

/** The verifier's dependencies. */
export interface VerifierDeps {
  readonly issuers: readonly Issuer[];
  /** Finds organizations that trust their own issuer. Default: none. */
  readonly ssoClientsOf?: SsoClientsOf;
  /** True if issuers named by organizations must have public addresses. Default: true. */
  readonly ssoPublicOnly?: boolean;
  /** Looks up the hosts of issuers named by organizations. Default: `askNameServers()`. */
  readonly resolve?: Resolve;
  /** Called each time an issuer's keys can't be fetched; known keys still work. */
  readonly onAway?: (issuer: string, error: Error) => void;
  /** Returns the time, in ms. Default: `Date.now`. */
  readonly now?: () => number;
}

/** Verifies ID tokens for every interface that accepts them. */
export class Verifier {
  readonly #deps: VerifierDeps;
  readonly #now: () => number;
  readonly #hosts: CustomerHosts;
  readonly #keys = new LRUCache<string, IssuerKeys>({ max: MOST_ISSUERS });

  constructor(deps: VerifierDeps) {
    this.#deps = deps;
    this.#now = deps.now ?? Date.now;
    this.#hosts = customerHosts(deps.ssoPublicOnly ?? true, deps.resolve);
  }

  /**
   * Returns the person whom an ID token identifies.
   * @throws Refusal unauthenticated (401), which says what is wrong with the token; unavailable (503) if the keys aren't known
   * and the issuer is unreachable
   */
  async verify(token: string): Promise<Identity> {
    const { issuer, audience } = readUnverified(token);
    const organizations = await this.#trusting(issuer, audience);
    const payload = await this.#verified(token, issuer, audience);
    if ((payload.iat ?? 0) > this.#now() / 1000 + TOLERANCE_S) throw refusedToken(WRONG_ISSUE_TIME);
    return { ...readIdentity(issuer, payload), ...(organizations === undefined ? {} : { organizations }) };
  }

  /**
   * Returns the issuers that the installation trusts and the organizations' issuers whose tokens this instance has verified
   * recently, all with their keys.
   */
  async issuers(): Promise<readonly IssuerState[]> {
    const own = this.#deps.issuers.map(({ issuer, audiences }) => ({ issuer, audiences }));
    const others = [...this.#keys.keys()].filter((issuer) => own.every((one) => one.issuer !== issuer));
    const all = [...own, ...others.sort().map((issuer) => ({ issuer, audiences: undefined }))];
    return Promise.all(all.map(async (one) => ({ ...one, ...(await this.#fetchKeys(one.issuer).state()) })));
  }

  async #verified(token: string, issuer: string, audience: string): Promise<JWTPayload> {
    try {
      const { payload } = await jwtVerify(token, (header, jws) => this.#fetchKeys(issuer).find(header, jws), {
        algorithms: [...ALGORITHMS],
        issuer,
        audience,
        requiredClaims: ['sub', 'exp', 'iat'],
        clockTolerance: TOLERANCE_S,
        currentDate: new Date(this.#now()),
      });
      return payload;
    } catch (error) {
      throw toTokenRefusal(error);
    }
  }

  /**
   * Returns the organizations that trust a token's issuer for its audience; undefined if the installation itself does.
   * @throws Refusal unauthenticated (401)
   */
  async #trusting(issuer: string, audience: string): Promise<readonly string[] | undefined> {
    const configured = this.#deps.issuers.find((known) => known.issuer === issuer);
    if (configured?.audiences.includes(audience)) return undefined;
    const clients = isIssuerUrl(issuer) ? ((await this.#deps.ssoClientsOf?.(issuer)) ?? []) : [];
    const meant = clients.filter(({ clientId }) => clientId === audience);
    if (meant.length > 0) return meant.map(({ organization }) => organization);
    throw configured === undefined && clients.length === 0
      ? this.#unknownIssuer()
      : refusedToken(WRONG_AUDIENCE);
  }

  #fetchKeys(issuer: string): IssuerKeys {
    const known = this.#keys.get(issuer);
    if (known !== undefined) return known;
    const configured = this.#deps.issuers.find((one) => one.issuer === issuer);
    const hosts = configured === undefined ? this.#hosts : undefined;
    const source = configured?.keys ?? (() => fetchKeys(issuer, hosts));
    const keys = new IssuerKeys(source, this.#now, (error) => this.#deps.onAway?.(issuer, error));
    this.#keys.set(issuer, keys);
    return keys;
  }

  #unknownIssuer(): Refusal {
    const names = this.#deps.issuers.map(({ issuer }) => issuer).join(' ');
    return refusedToken(
      names === ''
        ? 'the issuer in iss is not trusted: OIDC_ISSUERS is empty'
        : `the issuer in iss is not trusted; trusted issuers: ${names}`,
    );
  }
}

/** Reads the unverified claims needed to find the key. */
function readUnverified(token: string): { issuer: string; audience: string } {
  if (token.length > MOST_CHARACTERS)
    throw refusedToken(`an ID token must have at most ${MOST_CHARACTERS} characters`);
  let header: ProtectedHeaderParameters;
  let payload: JWTPayload;
  try {
    header = decodeProtectedHeader(token);
    payload = decodeJwt(token);
  } catch {
    throw refusedToken('the credential is not an ID token: a JWT has three parts, header.payload.signature');
  }
  const { alg, typ } = header;
  if (!ALGORITHMS.some((known) => known === alg)) {
    throw refusedToken(`alg of the ID token must be one of ${ALGORITHMS.join(', ')}`);
  }
  if (typeof typ === 'string' && !/^(?:application\/)?jwt$/i.test(typ)) {
    throw refusedToken('the credential is not an ID token: its typ must be JWT');
  }
  if (typeof payload.iss !== 'string') throw refusedToken('the ID token has no iss, the name of its issuer');
  return { issuer: payload.iss, audience: readAudience(payload) };
}

/** Returns the client that the token was issued for. If `aud` has several values, this is `azp`. */
function readAudience({ aud, azp }: JWTPayload): string {
  const audiences = typeof aud === 'string' ? [aud] : Array.isArray(aud) ? aud : [];
  const [only, ...more] = audiences;
  if (typeof only !== 'string') throw refusedToken('the ID token has no aud, its audience');
  if (more.length === 0) return only;
  if (typeof azp === 'string' && audiences.includes(azp)) return azp;
  throw refusedToken('the ID token has several audiences in aud, so azp must name one of them');
}

/**
 * Returns the refusal for an error. If the error is neither the token's fault nor caused by an unreachable issuer, the key is
 * unusable.
 */
function toTokenRefusal(error: unknown): Refusal {
  if (error instanceof IssuerAway) {
    return unavailable("the keys of the ID token's issuer cannot be fetched; retry in a second", RETRY_S);
  }
  return refuseJoseError(error) ?? refusedToken('the ID token is signed with an unusable key');
}
