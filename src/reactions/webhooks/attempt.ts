/** Waits for an attempt to send a delivery, regardless of which instance makes the attempt. */
import { setTimeout as delay } from 'node:timers/promises';

/**
 * How long an answer waits for the attempt, in ms. A receiver may take 10 s, which is too long for an interactive ping.
 */
const ATTEMPT_WAIT_MS = 5_000;
/** How often the ledger is checked for other instances' attempts, in ms. */
const LOOK_MS = 500;

/** A delivery, and how many of its attempts have finished. */
interface Tried {
  readonly id: string;
  readonly attempts: number;
}

/** Attempts that end in this process, and the requests that are waiting for them. */
export class Attempts {
  readonly #waiting = new Map<string, Set<() => void>>();

  /**
   * Wakes the requests that are waiting for the given deliveries, because their attempts have ended and are recorded in the
   * ledger.
   */
  ended(ids: Iterable<string>): void {
    for (const id of ids) for (const look of this.#waiting.get(id) ?? []) look();
  }

  /**
   * Waits until a delivery has been attempted once. Keeps nothing but a timer while waiting.
   * @param made a delivery without an attempt. Call this method before the dispatcher is woken.
   * @param find reads the delivery from the ledger; undefined if it was removed
   * @param waitMs how long to wait, in ms
   * @returns the delivery after its attempt, or as it was last seen if no attempt ended in time
   */
  async first<Delivery extends Tried>(
    made: Delivery,
    find: () => Promise<Delivery | undefined>,
    waitMs = ATTEMPT_WAIT_MS,
  ): Promise<Delivery> {
    const until = performance.now() + waitMs;
    let seen = made;
    for (let left = waitMs; seen.attempts === 0 && left > 0; left = until - performance.now()) {
      await this.#look(made.id, Math.min(left, LOOK_MS));
      const found = await find();
      if (found === undefined) break;
      seen = found;
    }
    return seen;
  }

  /** Resolves when an attempt has ended on this instance, or when the time is up. */
  async #look(id: string, ms: number): Promise<void> {
    const over = new AbortController();
    const look = (): void => over.abort();
    const others = this.#waiting.get(id) ?? new Set();
    this.#waiting.set(id, others.add(look));
    await delay(ms, undefined, { signal: over.signal }).catch(() => undefined);
    others.delete(look);
    if (others.size === 0) this.#waiting.delete(id);
  }
}
