/**
 * Caches an issuer's keys, so that there are few look-ups, new keys are found soon, and known keys keep working while the
 * issuer is unreachable.
 */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { IssuerAway } from './fetch-json.ts';

/** Fetches an issuer's keys. Any error means that they are currently unavailable. */
export type KeySource = () => Promise<JSONWebKeySet>;

/** An issuer's known keys. Times are in ms. */
export interface KeysState {
  readonly keys: JSONWebKeySet['keys'];
  readonly fetchedAt: number | undefined;
  /** The reason why the last fetch failed; undefined if it succeeded. */
  readonly failure: { readonly at: number; readonly message: string } | undefined;
}

/** A token's header, as jose passes it to key lookups. */
type Header = Parameters<JWTVerifyGetKey>[0];
type Token = Parameters<JWTVerifyGetKey>[1];

/** A key in the form that jose accepts. */
export type VerificationKey = Awaited<ReturnType<JWTVerifyGetKey>>;

/** How long keys are used before they are fetched again, in ms. A withdrawn key may keep working for that long. */
const FRESH_MS = 10 * 60_000;
/** How long keys are used at most while the issuer is unreachable, in ms. */
const STALE_MS = 24 * 3_600_000;
/** Minimum pause between two fetches caused by an unknown key id or an unreachable issuer, in ms. */
const PAUSE_MS = 10_000;

/** Caches the keys of one issuer. */
export class IssuerKeys {
  readonly #source: KeySource;
  readonly #now: () => number;
  readonly #onAway: (error: IssuerAway) => void;
  #keys: ReturnType<typeof createLocalJWKSet> | undefined;
  #set: JSONWebKeySet | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #failure: IssuerAway | undefined;
  #asking: Promise<void> | undefined;

  /**
   * @param now returns the time, in ms
   * @param onAway called after every failed fetch
   */
  constructor(source: KeySource, now: () => number, onAway: (error: IssuerAway) => void) {
    this.#source = source;
    this.#now = now;
    this.#onAway = onAway;
  }

  /**
   * Returns the key named in a token.
   * @throws JWKSNoMatchingKey if the issuer has no such key; JWKSMultipleMatchingKeys if the token doesn't say which key;
   * IssuerAway if the keys must be fetched and the issuer can't be reached
   */
  async find(header: Header, token: Token): Promise<VerificationKey> {
    await this.#keepFresh();
    try {
      return await this.#select(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // The issuer may have added the key since the last fetch. The pause holds even if many tokens name invented key ids.
      if (this.#mayAsk()) await this.#ask();
      if (this.#failure !== undefined) throw this.#failure;
      return this.#select(header, token);
    }
  }

  /** Returns what is known about the keys, after fetching them if a token would cause a fetch. */
  async state(): Promise<KeysState> {
    await this.#keepFresh();
    const failure = this.#failure && { at: this.#askedAt, message: this.#failure.message };
    const fetchedAt = Number.isFinite(this.#fetchedAt) ? this.#fetchedAt : undefined;
    return { keys: this.#set?.keys ?? [], fetchedAt, failure };
  }

  async #select(header: Header, token: Token): Promise<VerificationKey> {
    if (this.#keys === undefined) throw this.#failure ?? new errors.JWKSNoMatchingKey();
    return this.#keys(header, token);
  }

  async #keepFresh(): Promise<void> {
    const age = this.#now() - this.#fetchedAt;
    if (age < FRESH_MS) return;
    if (age > STALE_MS) this.#keys = undefined;
    if (!this.#mayAsk()) return;
    const asked = this.#ask();
    // After a failure, tokens with known keys don't wait for the next fetch.
    if (this.#keys === undefined || this.#failure === undefined) await asked;
  }

  #mayAsk(): boolean {
    return this.#asking !== undefined || this.#now() - this.#askedAt >= PAUSE_MS;
  }

  /** Fetches the keys, one fetch at a time; records a failure instead of throwing it. */
  #ask(): Promise<void> {
    this.#asking ??= this.#fetch().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #fetch(): Promise<void> {
    this.#askedAt = this.#now();
    try {
      const set = await this.#source();
      this.#keys = createLocalJWKSet(set);
      this.#set = set;
      this.#fetchedAt = this.#now();
      this.#failure = undefined;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#failure = error instanceof IssuerAway ? error : new IssuerAway(message, { cause: error });
      this.#onAway(this.#failure);
    }
  }
}
