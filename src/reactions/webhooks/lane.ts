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
   * @param at when the claims were made, in ms by any clock
   */
  add(claims: readonly T[], at: number): void {
    for (const claim of claims) this.#waiting.push({ claim, at });
  }

  /**
   * Returns the next delivery if there is a place for it; the delivery then counts as sent.
   * @param since claims from before this time are skipped, because another instance may soon take them
   */
  next(since: number): T | undefined {
    while (this.#sent < PLACES) {
      const first = this.#waiting.shift();
      if (first === undefined) return undefined;
      if (first.at < since) continue;
      this.#sent += 1;
      return first.claim;
    }
    return undefined;
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
