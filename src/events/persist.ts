/** Trying again while a store is away, for as long as a caller may be kept waiting (shared by the adapters). */
import { setTimeout as delay } from 'node:timers/promises';

/** Pauses between attempts, in ms: enough for a restart of a local server, short enough for a caller to wait. */
const RETRY_AFTER = [5, 50, 150, 400, 400] as const;
/** No attempt begins later than this, in ms: a server that is silent, not gone, has used up its time at once. */
const PATIENCE = 3_000;

/** How failures are told apart. */
export interface Persistence {
  /** Whether an error says that the store is away, as opposed to a fault in what it was asked. */
  readonly isAway: (error: unknown) => boolean;
  /** Told of each failure that is followed by another attempt. */
  readonly onRetry?: ((error: unknown) => void) | undefined;
}

/** Runs something repeatable until it succeeds, or fails for another reason, or too often: then throws what it threw. */
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
