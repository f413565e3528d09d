/** What one instance has claimed of one endpoint: deliveries that are sent, and those that wait for a place. */

/** Deliveries to an endpoint that one instance has sent and not noted: what a crash sends twice at most. */
const PLACES = 16;
/** Deliveries to an endpoint that answers quickly that are claimed beyond that: they are there when a place is free. */
const AHEAD = 16;
/** An answer within so many seconds is quick. */
const QUICK_SECONDS = 0.25;

/** One endpoint's. */
export class Lane<T> {
  readonly #waiting: { readonly claim: T; readonly at: number }[] = [];
  #sent = 0;
  #quick = false;

  /** Sent and not noted. */
  get sent(): number {
    return this.#sent;
  }

  /** Claimed, sent or not. */
  get size(): number {
    return this.#sent + this.#waiting.length;
  }

  /** How many more it may claim. */
  get room(): number {
    return PLACES + (this.#quick ? AHEAD : 0) - this.size;
  }

  /** Takes claims. @param at when they were made, in ms of any clock */
  add(claims: readonly T[], at: number): void {
    for (const claim of claims) this.#waiting.push({ claim, at });
  }

  /**
   * The next that has a place: it is sent from here on.
   * @param since claims from before are left out: they are about to be another's to make.
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

  /** An attempt was answered, or not, after so many seconds. */
  answered(seconds: number): void {
    this.#quick = seconds < QUICK_SECONDS;
  }

  /** So many are noted. */
  noted(count: number): void {
    this.#sent -= count;
  }

  /** Gives up what waits. */
  clear(): T[] {
    return this.#waiting.splice(0).map(({ claim }) => claim);
  }
}
