/** One instance's claims of one endpoint: deliveries being sent, and those waiting for a place. */

/** The maximum number of deliveries to an endpoint that are sent but not recorded; a crash repeats at most these. */
const PLACES = 16;
/**
 * The number of deliveries claimed ahead for an endpoint that answers quickly, so that they are ready when a place is
 * free.
 */
const AHEAD = 16;
/** An answer within this time is quick, in seconds. */
const QUICK_SECONDS = 0.25;

/** The lane of one endpoint. */
export class Lane<T> {
  readonly #waiting: { readonly claim: T; readonly at: number }[] = [];
  #sent = 0;
  #quick = false;

  /** Returns the number of deliveries sent and not recorded. */
  get sent(): number {
    return this.#sent;
  }

  /** Returns the number of claimed deliveries, sent or not. */
  get size(): number {
    return this.#sent + this.#waiting.length;
  }

  /** Returns how many more it may claim. */
  get room(): number {
    return PLACES + (this.#quick ? AHEAD : 0) - this.size;
  }

  /** Takes claims. @param at when they were made, in ms of any clock */
  add(claims: readonly T[], at: number): void {
    for (const claim of claims) this.#waiting.push({ claim, at });
  }

  /**
   * Returns the next delivery that has a place; it then counts as sent.
   * @param since earlier claims are skipped, because another instance may soon take them
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

  /** Adjusts the number of places to an answer time, in seconds. */
  answered(seconds: number): void {
    this.#quick = seconds < QUICK_SECONDS;
  }

  /** Frees the places of recorded deliveries. */
  noted(count: number): void {
    this.#sent -= count;
  }

  /** Removes and returns the waiting deliveries. */
  clear(): T[] {
    return this.#waiting.splice(0).map(({ claim }) => claim);
  }
}
