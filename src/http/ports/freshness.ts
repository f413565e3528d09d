/**
 * Decides whether a read can be answered yet. Read models are updated after the log, so reads either wait for them or are
 * refused.
 */
import type { Refusal } from '#src/shared/refusal.ts';
import type { Position } from './position.ts';

/** Compares the read models with the log. `src/freshness/freshness.ts` implements it. */
export interface Freshness {
  /**
   * Waits until the given read models have passed a position.
   * @returns false if this takes longer than ten seconds
   */
  waitFor(position: Position, models: readonly string[]): Promise<boolean>;
  /**
   * Waits as `waitFor` does, before a write is answered. If that takes too long, all instances refuse to read the models until
   * the models have passed the position.
   * @param models default: the models used for reading records
   * @throws Refusal unavailable (503) if the instances can't be notified
   */
  settle(position: Position, models?: readonly string[]): Promise<boolean>;
  /**
   * Waits until the given read models show every write that has been acknowledged.
   * @throws Refusal unavailable (503)
   */
  catchUp(models: readonly string[]): Promise<void>;
  /**
   * Checks that the tables of the given read models exist and that the models don't lag.
   * @throws Refusal unavailable (503, Retry-After)
   */
  require(models: readonly string[]): void;
  /** Returns the refusal for reads of the given read models, at least one of which lags or has no tables. */
  refusal(models: readonly string[]): Refusal;
}
