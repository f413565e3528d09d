/**
 * Sets the share of the machine that a rebuild uses: as much as possible, or so little that reads are hardly affected.
 */
import { setTimeout as delay } from 'node:timers/promises';

/** `full`: as fast as it goes; `low`: beside a service whose reads must not become slow. */
export type Load = 'full' | 'low';

/** The settings of a load. */
export interface Pace {
  /** Events per batch. Large ones load faster, small ones leave room sooner. */
  readonly batchSize: number;
  /** True if several projections are processed at the same time. */
  readonly together: boolean;
  /** Blocks of a table that are compared at a time; undefined: all at once. */
  readonly blocks: number | undefined;
  /** True if indexes are created before the rows, so that no statement takes as long as a whole table. */
  readonly indexesFirst: boolean;
  /** Settings of the session. */
  readonly settings: string;
  /** Rest after work, as a multiple of its duration. */
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
    // Works a thirtieth of the time in pieces of some 40 ms, which affect fewer reads than a p95 leaves out.
    rest: 29,
  },
};

/** Does some work, and rests after it as the pace wants; an aborted signal ends the rest. */
export async function paced<T>({ rest }: Pace, work: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  const began = performance.now();
  const result = await work();
  const ms = (performance.now() - began) * rest;
  if (ms > 0) await delay(ms, undefined, signal === undefined ? {} : { signal }).catch(() => undefined);
  return result;
}
