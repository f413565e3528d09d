/** Trying again while a store is away, for as long as a caller may be kept waiting (shared by the adapters). */
import { setTimeout as delay } from 'node:timers/promises';

/** Pauses between attempts, in ms: enough for a restart of a local server, short enough for a caller to wait. */
const RETRY_AFTER = [5, 50, 150, 400, 400] as const;
/**
 * No attempt begins later than this, in ms: a server that accepts connections but doesn't answer uses up the
 * time with one attempt.
 */
const PATIENCE = 3_000;

/** The functions that classify failures and report retries. */
export interface Persistence {
  /** Returns true if an error means that the store is unreachable, rather than that the request was wrong. */
  readonly isAway: (error: unknown) => boolean;
  /** Told of each failure that is followed by another attempt. */
  readonly onRetry?: ((error: unknown) => void) | undefined;
}

/**
 * Retries a repeatable operation while the store is unreachable.
 * @throws the last error, after too many attempts or when it has another cause.
 */
export async function persist<T>(attempt: () => Promise<T>, { isAway, onRetry }: Persistence): Promise<T> {
  const began = performance.now();
  for (let tries = 0; ; tries += 1) {
    try {
      return await attempt();
    } catch (error) {
      const pause = RETRY_AFTER[tries];
      const late = performance.now() - began > PATIENCE;
      if (!isAway(error) || pause === undefined || late) throw error;
      onRetry?.(error);
      await delay(pause);
    }
  }
}
