/** The options for opening the embedded log. */
import type pg from 'pg';
import type { WrittenBatch } from '../store.ts';

/** Options for `PostgresEventStore.open`. */
export interface PostgresEventStoreOptions {
  /** `postgres://…`; the store keeps one connection for writing and one for notifications. */
  readonly url: string;
  /** The connections for reads. Default: a separate pool that `close` closes. */
  readonly pool?: pg.Pool;
  /** Logs lost connections; may be a pino logger. */
  readonly log?: { warn(details: object, message: string): void };
  /** Called with the number of appends in each committed batch. */
  readonly onBatch?: (appends: number) => void;
  /** Called with each batch that this process wrote, for other processes on this machine. */
  readonly onWritten?: ((batch: WrittenBatch) => void) | undefined;
  /** True if other processes on this machine hand over the batches that they write (`receive`). Default: false. */
  readonly hasPeers?: boolean;
  /** The maximum number of appends written at a time. Default: 500. */
  readonly batchAppends?: number;
  /**
   * The approximate maximum number of body bytes written or read at a time; only a single append may exceed it. Default: 16
   * MB.
   */
  readonly batchBytes?: number;
  /** The interval at which the head is polled in case a notification was missed, in ms. Default: 1,000. */
  readonly recheckEvery?: number;
  /** The longest wait for a response before the server is considered unavailable, in ms. Default: 8,000. */
  readonly answerWithin?: number;
}

/** The defaults. */
export const DEFAULTS = {
  batchAppends: 500,
  batchBytes: 16_000_000,
  recheckEvery: 1_000,
  answerWithin: 8_000,
} as const;

/**
 * The settings that the writing session needs, whatever the database's defaults are: durable commits; a new snapshot for each
 * statement after taking the lock; index lookups even before the first ANALYZE; one plan for all batches; batches of 16 MB
 * without temporary files.
 */
export const WRITER_SETUP = `
  SET synchronous_commit = on;
  SET default_transaction_isolation = 'read committed';
  SET enable_seqscan = off;
  SET plan_cache_mode = force_generic_plan;
  SET jit = off;
  SET work_mem = '64MB';`;
