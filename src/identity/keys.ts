/** The keys of one issuer, kept: few look-ups, new keys soon found, and no standstill while the issuer is away. */
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTVerifyGetKey } from 'jose';
import { IssuerAway } from './fetch-json.ts';

/** Where an issuer's keys come from. Whatever it throws means that they cannot be had now. */
export type KeySource = () => Promise<JSONWebKeySet>;

/** The header of a token, as jose hands it to whoever finds its key. */
type Header = Parameters<JWTVerifyGetKey>[0];
type Token = Parameters<JWTVerifyGetKey>[1];

/** A key, as jose takes it. */
export type VerificationKey = Awaited<ReturnType<JWTVerifyGetKey>>;

/** How long keys are good without being asked for again, in ms: so long a key works on that was withdrawn. */
const FRESH_MS = 10 * 60_000;
/** How long they are good at most while the issuer is away, in ms. */
const STALE_MS = 24 * 3_600_000;
/** How often an unknown key id, or an issuer that is away, is asked about at most, in ms. */
const PAUSE_MS = 10_000;

/** The keys of an issuer. */
export class IssuerKeys {
  readonly #source: KeySource;
  readonly #now: () => number;
  readonly #onAway: (error: IssuerAway) => void;
  #keys: ReturnType<typeof createLocalJWKSet> | undefined;
  #fetchedAt = Number.NEGATIVE_INFINITY;
  #askedAt = Number.NEGATIVE_INFINITY;
  #failure: IssuerAway | undefined;
  #asking: Promise<void> | undefined;

  /**
   * @param now the clock, in ms.
   * @param onAway told of every try that failed.
   */
  constructor(source: KeySource, now: () => number, onAway: (error: IssuerAway) => void) {
    this.#source = source;
    this.#now = now;
    this.#onAway = onAway;
  }

  /**
   * The key that a token says it is signed with.
   * @throws JWKSNoMatchingKey when the issuer has none such, JWKSMultipleMatchingKeys when the token does not say which;
   * IssuerAway when its issuer would have to be asked and cannot be.
   */
  async find(header: Header, token: Token): Promise<VerificationKey> {
    await this.#keepFresh();
    try {
      return await this.#select(header, token);
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
      // A key that was added since; a flood of invented ids asks the issuer no more often than this.
      if (this.#mayAsk()) await this.#ask();
      if (this.#failure !== undefined) throw this.#failure;
      return this.#select(header, token);
    }
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
    // Once it has failed, nobody whose key is known waits for the next try.
    if (this.#keys === undefined || this.#failure === undefined) await asked;
  }

  #mayAsk(): boolean {
    return this.#asking !== undefined || this.#now() - this.#askedAt >= PAUSE_MS;
  }

  /** One question at a time, whoever asks; notes a failure instead of throwing it. */
  #ask(): Promise<void> {
    this.#asking ??= this.#fetch().finally(() => {
      this.#asking = undefined;
    });
    return this.#asking;
  }

  async #fetch(): Promise<void> {
    this.#askedAt = this.#now();
    try {
      this.#keys = createLocalJWKSet(await this.#source());
      this.#fetchedAt = this.#now();
      this.#failure = undefined;
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      this.#failure = error instanceof IssuerAway ? error : new IssuerAway(message, { cause: error });
      this.#onAway(this.#failure);
    }
  }
}
