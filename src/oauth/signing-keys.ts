/**
 * The keys that sign ID tokens (RFC 7517; OpenID Connect Core 1.0, section 10.1.1). They are rows in the database, so that
 * rotation needs no restart and all instances sign with the same key. Private keys are sealed.
 */
import {
  calculateJwkThumbprint,
  exportJWK,
  generateKeyPair,
  importJWK,
  type JSONWebKeySet,
  type JWK,
} from 'jose';
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { z } from 'zod';
import { installationKey } from '#src/operations/installation-key.ts';
import { seal, unseal } from '#src/shared/access/sealed.ts';

/** The DDL of a separate migration. */
export const SIGNING_KEYS_SQL = `
-- What seals the private keys.
CREATE TABLE operations.signing_seal (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  key bytea NOT NULL
);
CREATE TABLE operations.signing_key (
  kid text PRIMARY KEY,
  predecessor text NOT NULL UNIQUE,    -- its kid; empty for the first. Of parallel rotations one succeeds
  public_jwk jsonb NOT NULL,
  private_key text NOT NULL,           -- a JWK, sealed with the kid
  made_at timestamptz NOT NULL DEFAULT now(),
  signs_from timestamptz NOT NULL,
  published_until timestamptz          -- null while it is the newest
);`;

/** The algorithm for ID tokens (docs/spec/interface.md, section 5). */
export const SIGNING_ALGORITHM = 'RS256';
/** How long clients may cache the key set, in seconds. A new key is published for longer than this before it starts to sign. */
export const KEY_SET_MAX_AGE_S = 300;
/** How long a new key is published before it starts to sign, in seconds. */
const PUBLISHED_BEFORE_S = 2 * KEY_SET_MAX_AGE_S;
/**
 * How long a key stays published after its successor starts to sign, in seconds: ID tokens last 30 minutes, and clocks may
 * differ.
 */
const PUBLISHED_AFTER_S = 3_600;

/** A key, in the form in which `annal oauth-keys` lists it. */
export interface SigningKeyRow {
  readonly kid: string;
  readonly madeAt: Date;
  readonly signsFrom: Date;
  /** When the key is removed from the key set; undefined for the newest key. */
  readonly publishedUntil: Date | undefined;
  readonly status: 'waiting' | 'signing' | 'retired';
}

export interface SigningKey {
  readonly kid: string;
  readonly key: CryptoKey;
}

const privateJwk = z.looseObject({ kty: z.literal('RSA'), n: z.string(), e: z.string(), d: z.string() });
const publicJwk = z.object({
  kty: z.literal('RSA'),
  n: z.string(),
  e: z.string(),
  kid: z.string(),
  alg: z.string(),
  use: z.string(),
});

const CURRENT = `
select kid, private_key from operations.signing_key
 where signs_from <= now() and (published_until is null or published_until > now())
 order by signs_from desc, made_at desc limit 1`;

const PUBLISHED = `
select public_jwk as jwk from operations.signing_key
 where published_until is null or published_until > now() order by made_at desc, kid`;

// The predecessor is unique: the second of two parallel rotations inserts nothing, and retires no key.
const ROTATE = `
with made as (
  insert into operations.signing_key (kid, predecessor, public_jwk, private_key, signs_from)
  values ($1, $2, $3, $4, now() + make_interval(secs => $5))
  on conflict (predecessor) do nothing
  returning kid
), ended as (
  update operations.signing_key
     set published_until = least(coalesce(published_until, 'infinity'), now() + make_interval(secs => $6))
   where exists (select from made) and (published_until is null or $6 = 0)
)
select kid from made`;

const LIST = `
select kid, made_at as "madeAt", signs_from as "signsFrom", published_until as "publishedUntil",
       case when signs_from > now() then 'waiting'
            when kid = (select kid from (${CURRENT}) c) then 'signing' else 'retired' end as status
  from operations.signing_key
 where published_until is null or published_until > now() order by made_at desc, kid`;

/** An installation's signing keys. */
export class SigningKeys {
  /** Imported private keys by kid; for each signature, the database determines which key signs. */
  readonly #imported = new LRUCache<string, CryptoKey>({ max: 10 });

  constructor(private readonly pool: Pool) {}

  /** Returns the key that currently signs; the first call creates one. */
  async signing(): Promise<SigningKey> {
    const row = (await this.#current()) ?? (await this.#first());
    const { kid } = row;
    const known = this.#imported.get(kid);
    if (known !== undefined) return { kid, key: known };
    const sealing = await installationKey(this.pool, 'signing_seal');
    const jwk = privateJwk.parse(JSON.parse(unseal(sealing, row.private_key, kid)));
    const key = await importJWK(jwk, SIGNING_ALGORITHM);
    if (key instanceof Uint8Array) throw new TypeError('the signing key is not an RSA key');
    this.#imported.set(kid, key);
    return { kid, key };
  }

  /** Returns the public keys: of the key that signs, of the next key, and of earlier keys whose tokens may still be valid. */
  async published(): Promise<JSONWebKeySet> {
    const read = async (): Promise<JWK[]> => {
      const { rows } = await this.pool.query<{ jwk: unknown }>({ name: 'signing-keys', text: PUBLISHED });
      return rows.map(({ jwk }) => publicJwk.parse(jwk));
    };
    const keys = await read();
    if (keys.length > 0) return { keys };
    await this.#first();
    return { keys: await read() };
  }

  /**
   * Creates the next key. It starts to sign after ten minutes, by which time every client can have fetched it; the earlier
   * keys stay published for another hour.
   * @param now for a leaked key: the new key signs at once, and no earlier key stays published
   * @returns the keys, newest first. While a key is waiting to sign, no further key is created, so a repeated rotation changes
   *   nothing
   */
  async rotate({ now = false }: { readonly now?: boolean } = {}): Promise<readonly SigningKeyRow[]> {
    await this.signing();
    const { rows } = await this.pool.query<{ kid: string; waits: boolean }>(
      `select kid, signs_from > now() as waits from operations.signing_key
        where published_until is null order by made_at desc limit 1`,
    );
    if (rows[0]?.waits === true && !now) return this.list();
    await this.#make(rows[0]?.kid ?? '', now ? 0 : PUBLISHED_BEFORE_S, now ? 0 : PUBLISHED_AFTER_S);
    return this.list();
  }

  /** Returns the published keys, newest first. */
  async list(): Promise<readonly SigningKeyRow[]> {
    const { rows } = await this.pool.query<
      Omit<SigningKeyRow, 'publishedUntil'> & { publishedUntil: Date | null }
    >(LIST);
    return rows.map((row) => ({ ...row, publishedUntil: row.publishedUntil ?? undefined }));
  }

  /** Deletes the private and public parts of keys that no longer sign and are no longer published. */
  async sweep(): Promise<void> {
    // The row keeps its kid but neither key, so that the chain of predecessors stays complete.
    await this.pool.query(
      `update operations.signing_key set private_key = '', public_jwk = '{}'
        where published_until < now() and private_key <> ''`,
    );
  }

  async #current(): Promise<{ kid: string; private_key: string } | undefined> {
    const { rows } = await this.pool.query<{ kid: string; private_key: string }>({
      name: 'signing-key',
      text: CURRENT,
    });
    return rows[0];
  }

  async #first(): Promise<{ kid: string; private_key: string }> {
    await this.#make('', 0, 0);
    const row = await this.#current();
    if (row === undefined) throw new Error('operations.signing_key was emptied while it was read');
    return row;
  }

  /** Creates a key as the successor of another key, unless that key already has one. */
  async #make(predecessor: string, before: number, after: number): Promise<void> {
    const { privateKey } = await generateKeyPair(SIGNING_ALGORITHM, { extractable: true });
    const jwk = privateJwk.parse(await exportJWK(privateKey));
    const { kty, n, e } = jwk;
    const kid = await calculateJwkThumbprint({ kty, n, e });
    const published = { kty, n, e, kid, alg: SIGNING_ALGORITHM, use: 'sig' };
    const sealing = await installationKey(this.pool, 'signing_seal');
    const sealed = seal(sealing, JSON.stringify(jwk), kid);
    await this.pool.query(ROTATE, [
      kid,
      predecessor,
      JSON.stringify(published),
      sealed,
      before,
      after === 0 ? 0 : before + after,
    ]);
  }
}
