/** Catches an expected refusal. */
import { Refusal } from '#src/shared/refusal.ts';

/**
 * Returns the refusal that the given work throws.
 * @throws any other error from the work; an Error if it throws nothing
 */
export function refusal(work: () => unknown): Refusal {
  try {
    work();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  }
  throw new Error('nothing was refused');
}
