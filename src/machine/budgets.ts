/** Divides the budgets of a machine among the processes that answer its requests. */
import type { Limits } from '../shared/limits.ts';
import type { Sizes } from './sizes.ts';

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

/**
 * Returns the maximum number of connections of one process's pool: its part of those of a service that is one process, and
 * at least three.
 * @param most of a single process
 */
export function shareConnections(most: number, sharers: number): number {
  return sharers === 1 ? most : Math.max(3, Math.ceil(most / sharers));
}

/** Sizes of the pools that the processes which answer requests divide: for requests, locks of criteria, and searches. */
export const POOLS = { requests: 10, locks: 16, searches: 8 } as const;
/** Projectors use these pools little: each has the part that four workers would have. */
export const SHARERS_OF_PROJECTOR = 4;
/** All other connections of a process, and those of all projectors for read models and processes. */
const OF_EACH = 12;
const OF_PROJECTORS = 15;

/** Returns the number of connections that the processes of a machine may have open at a time. */
export function countConnections({ workers, projectors }: Sizes): number {
  const shared = (sharers: number): number =>
    Object.values(POOLS).reduce((sum: number, most) => sum + shareConnections(most, sharers), OF_EACH);
  return workers * shared(workers) + projectors * shared(SHARERS_OF_PROJECTOR) + OF_PROJECTORS;
}

/**
 * Returns the sizes if PostgreSQL allows so many connections; fewer workers if their number is Annal's choice. Otherwise a
 * sentence that names the settings.
 * @param allowed `max_connections` less those that are reserved
 * @param isChosen true if the settings say how many workers there are
 */
export function fitConnections(sizes: Sizes, allowed: number, isChosen: boolean): Sizes | string {
  const needed = countConnections(sizes);
  if (needed <= allowed) return sizes;
  if (!isChosen && sizes.workers > 1)
    return fitConnections({ ...sizes, workers: sizes.workers - 1 }, allowed, false);
  const { workers, projectors } = sizes;
  return `WORKERS=${workers} and PROJECTORS=${projectors} may need ${needed} connections to PostgreSQL, and its max_connections leaves ${allowed}: raise max_connections, or lower WORKERS`;
}
