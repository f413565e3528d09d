/** The one retry policy of the write side. */
import { setTimeout as delay } from 'node:timers/promises';
import { unavailable } from '#src/shared/refusal.ts';

/**
 * The state that a command was prepared from has changed since; the caller must prepare the command again.
 */
export class Stale extends Error {
  override readonly name = 'Stale';
}

/** The error message when retries, or waiting in the queue, take too long. */
export const BUSY = 'too many requests are changing this at once; retry in a second';

const TRIES = 10;

/**
 * Retries `attempt` after errors of one class: at most ten attempts, with a random pause from the second
 * retry on.
 * @param attempt receives the error of the attempt before it.
 * @throws Refusal unavailable (503) after ten attempts; rethrows any other error at once.
 */
export async function retry<T, E extends Error>(
  failure: new (...args: never[]) => E,
  attempt: (before: E | undefined) => Promise<T>,
): Promise<T> {
  let before: E | undefined;
  for (let tries = 1; ; tries += 1) {
    try {
      return await attempt(before);
    } catch (error) {
      if (!(error instanceof failure)) throw error;
      if (tries === TRIES) throw unavailable(BUSY);
      if (tries > 1) await delay(Math.random() * 2 ** Math.min(tries, 6));
      before = error;
    }
  }
}
