/**
 * The development issuer: an OpenID Connect provider for sandbox developers that requires no proof of identity. It is active
 * if no other issuer is configured, but never in production mode (docs/spec/decisions.md, section 7).
 */
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
  SignJWT,
} from 'jose';
import type pg from 'pg';
import { devIssuerKey } from '#src/dev-issuer/store.ts';
import { makeSubject, type Person } from './people.ts';

/** The issuer's only client, and the `aud` of its tokens: any dashboard on this machine, without a secret. */
export const DEV_CLIENT = 'annal';
/** Lifetime of the issuer's ID tokens, in seconds. */
export const DEV_TOKEN_S = 3600;

/** The algorithm that signs the issuer's tokens; every client supports it. */
export const ALGORITHM = 'RS256';

/** Returns the identifier of an installation's development issuer. */
export function devIssuerUrl(baseUrl: string): string {
  return `${baseUrl}/dev`;
}

/**
 * Returns the identifiers of the issuers that this service is or could be. An organization can't choose these as trusted
 * issuers for people.
 */
export function ownIssuers(baseUrl: string): readonly string[] {
  return [baseUrl, devIssuerUrl(baseUrl)];
}

interface SigningKey {
  readonly kid: string;
  readonly key: CryptoKey;
  readonly jwks: JSONWebKeySet;
}

/** An installation's development issuer. */
export class DevIssuer {
  #key: Promise<SigningKey> | undefined;

  /**
   * @param client the installation's database, in which the service has saved the issuer
   * @param issuer `{BASE_URL}/dev`
   * @param patients number of synthetic patients in a sandbox; the sign-in page offers the adults among them
   */
  constructor(
    readonly client: pg.Pool | pg.ClientBase,
    readonly issuer: string,
    readonly patients = 0,
  ) {}

  /** Returns the issuer's public keys (RFC 7517). */
  async jwks(): Promise<JSONWebKeySet> {
    return (await this.#signingKey()).jwks;
  }

  /**
   * Issues an ID token for a person.
   * @param nonce the client's nonce
   */
  async idToken({ email, name, given, family, birthDate }: Person, nonce?: string): Promise<string> {
    const { kid, key } = await this.#signingKey();
    const seconds = Math.floor(Date.now() / 1000);
    return new SignJWT({
      email,
      email_verified: true,
      ...(name === undefined ? {} : { name }),
      ...(given === undefined ? {} : { given_name: given }),
      ...(family === undefined ? {} : { family_name: family }),
      ...(birthDate === undefined ? {} : { birthdate: birthDate }),
      auth_time: seconds,
      ...(nonce === undefined ? {} : { nonce }),
    })
      .setProtectedHeader({ alg: ALGORITHM, kid, typ: 'JWT' })
      .setIssuer(this.issuer)
      .setSubject(makeSubject(email))
      .setAudience(DEV_CLIENT)
      .setIssuedAt(seconds)
      .setExpirationTime(seconds + DEV_TOKEN_S)
      .sign(key);
  }

  /** Returns the signing key, which is read once per process. */
  #signingKey(): Promise<SigningKey> {
    this.#key ??= this.#load().catch((error: unknown) => {
      this.#key = undefined;
      throw error;
    });
    return this.#key;
  }

  async #load(): Promise<SigningKey> {
    const jwk = JSON.parse(await devIssuerKey(this.client, makeKey)) as JWK;
    const { kty, n, e } = jwk;
    if (kty !== 'RSA' || n === undefined || e === undefined) throw new Error('the key is not an RSA key');
    const kid = await calculateJwkThumbprint({ kty, n, e });
    const key = await importJWK(jwk, ALGORITHM);
    if (key instanceof Uint8Array) throw new Error('the key is not an RSA key');
    return { kid, key, jwks: { keys: [{ kty, n, e, kid, alg: ALGORITHM, use: 'sig' }] } };
  }
}

async function makeKey(): Promise<string> {
  const { privateKey } = await generateKeyPair(ALGORITHM, { extractable: true });
  return JSON.stringify(await exportJWK(privateKey));
}
