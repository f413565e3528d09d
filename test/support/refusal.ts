/** What a test expects to be refused. */
import { Refusal } from '#src/shared/refusal.ts';

/**
 * Returns the refusal that work throws.
 * @throws what else it throws, and an Error when it throws nothing.
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
