/** Retries while a store is unreachable, for as long as a caller can be kept waiting (shared by the adapters). */
import { setTimeout as delay } from 'node:timers/promises';

/** Pauses between attempts, in ms; the last one repeats. */
const RETRY_AFTER = [5, 50, 150, 400] as const;
const LONGEST_PAUSE = 400;

/** The functions that classify failures and report retries. */
export interface Persistence {
  /** Returns true if an error means that the store is unreachable, rather than that the request was wrong. */
  readonly isAway: (error: unknown) => boolean;
  /**
   * No attempt begins later than this, in ms. If a server accepts connections but doesn't respond, one attempt uses up all of
   * this time.
   */
  readonly patience: number;
  /** Called for each failure that is followed by another attempt. */
  readonly onRetry?: ((error: unknown) => void) | undefined;
}

/**
 * Retries a repeatable operation while the store is unreachable.
 * @throws the last error, when the time is over or the error has another cause.
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
