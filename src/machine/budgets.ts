/** Divides a machine's budgets among the processes that answer its requests. */
import type { Limits } from '../shared/limits.ts';
import type { Sizes } from './sizes.ts';

/**
 * Returns the limits for one process: its share of each of the machine's budgets. Limits on single requests are unchanged. A
 * share of memory is always large enough for one answer or one body.
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
 * Returns the maximum number of connections in one process's pool: its share of the connections that a single-process service
 * would have, but at least three.
 * @param most the maximum for a single-process service
 */
export function shareConnections(most: number, sharers: number): number {
  return sharers === 1 ? most : Math.max(3, Math.ceil(most / sharers));
}

/**
 * Sizes of the pools that are shared among the processes that answer requests: for requests, locks on criteria, and searches.
 */
export const POOLS = { requests: 10, locks: 16, searches: 8 } as const;
/** Projectors rarely use these pools, so each gets the share that a worker gets if there are four workers. */
export const SHARERS_OF_PROJECTOR = 4;
/** Each process's other connections, and the connections that all projectors use for read models and processes. */
const OF_EACH = 12;
const OF_PROJECTORS = 15;

/** Returns the maximum number of connections that a machine's processes may have open at the same time. */
export function countConnections({ workers, projectors }: Sizes): number {
  const shared = (sharers: number): number =>
    Object.values(POOLS).reduce((sum: number, most) => sum + shareConnections(most, sharers), OF_EACH);
  return workers * shared(workers) + projectors * shared(SHARERS_OF_PROJECTOR) + OF_PROJECTORS;
}

/**
 * Returns the sizes if PostgreSQL allows enough connections for them. Otherwise, returns sizes with fewer workers if Annal
 * chose their number, or else a sentence that names the settings to change.
 * @param allowed `max_connections` minus the reserved connections
 * @param isChosen true if the settings specify the number of workers
 */
export function fitConnections(sizes: Sizes, allowed: number, isChosen: boolean): Sizes | string {
  const needed = countConnections(sizes);
  if (needed <= allowed) return sizes;
  if (!isChosen && sizes.workers > 1)
    return fitConnections({ ...sizes, workers: sizes.workers - 1 }, allowed, false);
  const { workers, projectors } = sizes;
  return `WORKERS=${workers} and PROJECTORS=${projectors} may need ${needed} connections to PostgreSQL, and its max_connections leaves ${allowed}: raise max_connections, or lower WORKERS`;
}
