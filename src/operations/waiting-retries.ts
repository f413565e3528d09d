/** Limits retries that wait for the first request with their Idempotency-Key, by number and memory. */
import { setTimeout as delay } from 'node:timers/promises';

/** The maximum number of retries with the same key that may wait on an instance. */
const MOST_PER_KEY = 3;
/** The maximum total size of request bodies that may wait on an instance, in bytes. */
const MOST_BYTES = 64_000_000;

/** A retry's permission to wait. */
export interface Place {
  /**
   * Resolves when the first request has ended on this instance, the client has disconnected, or the time is up. Keeps nothing
   * but a timer while waiting.
   */
  wait(ms: number, gone: AbortSignal): Promise<void>;
  /** Gives the place up. */
  leave(): void;
}

/** The waiting retries of this instance. */
export class WaitingRetries {
  readonly #waiting = new Map<string, Set<() => void>>();
  #bytes = 0;

  /**
   * Gives a retry permission to wait; undefined if three retries with its key, or 64 MB of bodies, are already waiting.
   * @param key identifies the Idempotency-Key and its scope
   * @param bytes the size of the request's body, which is kept in memory while waiting
   */
  enter(key: string, bytes: number): Place | undefined {
    const others = this.#waiting.get(key) ?? new Set();
    if (others.size >= MOST_PER_KEY || this.#bytes + bytes > MOST_BYTES) return undefined;
    let woken = new AbortController();
    const wake = (): void => woken.abort();
    this.#waiting.set(key, others.add(wake));
    this.#bytes += bytes;
    return {
      wait: async (ms, gone) => {
        const signal = AbortSignal.any([woken.signal, gone]);
        await delay(ms, undefined, { signal }).catch(() => undefined);
        if (woken.signal.aborted) woken = new AbortController();
      },
      leave: () => {
        if (!others.delete(wake)) return;
        this.#bytes -= bytes;
        if (others.size === 0) this.#waiting.delete(key);
      },
    };
  }

  /** Wakes the retries with a key, because the key's first request has ended on this instance. */
  ended(key: string): void {
    for (const wake of this.#waiting.get(key) ?? []) wake();
  }
}
