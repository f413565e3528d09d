/** One instance's claims for one endpoint: deliveries that are being sent, and deliveries that wait for a place. */

/**
 * The maximum number of deliveries to an endpoint that have been sent but not recorded; after a crash, at most these are
 * repeated.
 */
const PLACES = 16;
/**
 * The number of deliveries claimed in advance for an endpoint that answers quickly, so that a delivery is ready as soon as a
 * place is free.
 */
const AHEAD = 16;
/** An answer within this time counts as quick, in seconds. */
const QUICK_SECONDS = 0.25;
/**
 * How long a claimed delivery may wait to be sent, in ms. It's sent with the URL and the secret that the endpoint had when it was
 * claimed, so a change of an endpoint takes this long to have an effect everywhere.
 */
export const HELD_MS = 500;

/** The lane of one endpoint. */
export class Lane<T> {
  readonly #waiting: { readonly claim: T; readonly at: number }[] = [];
  #sent = 0;
  #quick = false;

  /** Returns the number of deliveries that have been sent but not recorded. */
  get sent(): number {
    return this.#sent;
  }

  /** Returns the number of claimed deliveries, whether sent or not. */
  get size(): number {
    return this.#sent + this.#waiting.length;
  }

  /** Returns how many more deliveries the lane may claim. */
  get room(): number {
    return PLACES + (this.#quick ? AHEAD : 0) - this.size;
  }

  /**
   * Takes claims.
   * @param at when the claims were ordered, in ms by any clock
   */
  add(claims: readonly T[], at: number): void {
    for (const claim of claims) this.#waiting.push({ claim, at });
  }

  /** Returns the next delivery if there is a place for it; the delivery then counts as sent. */
  next(): T | undefined {
    if (this.#sent >= PLACES) return undefined;
    const first = this.#waiting.shift();
    if (first !== undefined) this.#sent += 1;
    return first?.claim;
  }

  /** Removes and returns the waiting deliveries that were claimed before a time. */
  takeOld(since: number): T[] {
    const fresh = this.#waiting.findIndex(({ at }) => at >= since);
    return this.#waiting.splice(0, fresh < 0 ? this.#waiting.length : fresh).map(({ claim }) => claim);
  }

  /** Adjusts the number of places according to the time that an answer took, in seconds. */
  answered(seconds: number): void {
    this.#quick = seconds < QUICK_SECONDS;
  }

  /** Frees the places of deliveries that have been recorded. */
  noted(count: number): void {
    this.#sent -= count;
  }

  /** Removes and returns the waiting deliveries. */
  clear(): T[] {
    return this.#waiting.splice(0).map(({ claim }) => claim);
  }
}
