/** Controls how much of the machine a rebuild uses: as much as possible, or so little that it hardly affects reads. */
import { setTimeout as delay } from 'node:timers/promises';

/** `full`: as fast as possible; `low`: for use beside a running service, without slowing down its reads. */
export type Load = 'full' | 'low';

/** The settings of a load. */
export interface Pace {
  /** Events per batch. Large batches load faster; small batches let other work run sooner. */
  readonly batchSize: number;
  /** True if several projections are processed at the same time. */
  readonly together: boolean;
  /** Number of table blocks compared at a time; undefined to compare all at once. */
  readonly blocks: number | undefined;
  /** True if indexes are created before the rows, so that no single statement has to process a whole table. */
  readonly indexesFirst: boolean;
  /** SQL that configures the session. */
  readonly settings: string;
  /** How long to rest after work, as a multiple of how long the work took. */
  readonly rest: number;
}

/** Paces by load. The effect of `low` on reads was measured: docs/operations.md. */
export const PACES: Readonly<Record<Load, Pace>> = {
  full: {
    batchSize: 1_000,
    together: true,
    blocks: undefined,
    indexesFirst: false,
    settings: "set maintenance_work_mem = '256MB'",
    rest: 0,
  },
  low: {
    batchSize: 50,
    together: false,
    blocks: 256,
    indexesFirst: true,
    settings: 'set max_parallel_workers_per_gather = 0; set vacuum_cost_delay = 20',
    // Works a thirtieth of the time, in portions of about 40 ms, so the share of reads that are affected is too small to show
    // in a p95.
    rest: 29,
  },
};

/** Does some work, then rests as the pace requires; aborting the signal ends the rest. */
export async function paced<T>({ rest }: Pace, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const began = performance.now();
  const result = await work();
  const ms = (performance.now() - began) * rest;
  if (ms > 0) await delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  return result;
}
