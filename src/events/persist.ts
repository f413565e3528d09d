/** Retries while a store is unreachable, for as long as callers can be kept waiting. Both adapters use this. */
import { setTimeout as delay } from 'node:timers/promises';

/** Pauses between attempts, in ms; the last one repeats. */
const RETRY_AFTER = [5, 50, 150, 400] as const;
const LONGEST_PAUSE = 400;

/** Functions that classify failures and report retries. */
export interface Persistence {
  /** Returns true if an error means that the store is unreachable, and false if the request was wrong. */
  readonly isAway: (error: unknown) => boolean;
  /**
   * The time after which no further attempt begins, in ms. If a server accepts connections but doesn't respond, a single
   * attempt uses up all of this time.
   */
  readonly patience: number;
  /** Called for each failure that is followed by another attempt. */
  readonly onRetry?: ((error: unknown) => void) | undefined;
}

/**
 * Retries a repeatable operation while the store is unreachable.
 * @throws the last error, when the time has run out or the error has another cause.
 */
export async function persist<T>(
  attempt: () => Promise<T>,
  { isAway, patience, onRetry }: Persistence,
): Promise<T> {
  const began = performance.now();
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const pause = RETRY_AFTER[tries] ?? LONGEST_PAUSE;
      if (!isAway(error) || performance.now() - began + pause > patience) throw error;
      onRetry?.(error);
      await delay(pause);
    }
  }
}
