/** Divides the budgets of a machine among the processes that answer its requests. */
import type { Limits } from '../shared/limits.ts';

/**
 * Returns the limits of one process: its part of each budget of the machine, and the limits of single requests unchanged. A
 * part of memory is never too small for one answer or body.
 * @param sharers the number of processes among which the system divides connections evenly
 */
export function shareLimits(limits: Limits, sharers: number): Limits {
  if (sharers === 1) return limits;
  const share = (budget: number): number => Math.ceil(budget / sharers);
  const { answerMemoryBytes, bodyMemoryBytes, connectionsPerAddress, answerBytes, bundleBytes } = limits;
  return {
    ...limits,
    answerMemoryBytes: Math.max(share(answerMemoryBytes), answerBytes),
    bodyMemoryBytes: Math.max(share(bodyMemoryBytes), bundleBytes),
    connectionsPerAddress: share(connectionsPerAddress),
  };
}
