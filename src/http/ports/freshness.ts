/** Decides whether a read may be answered yet. Read models follow the log, so reads wait for them or are refused. */
import type { Refusal } from '#src/shared/refusal.ts';
import type { Position } from './position.ts';

/** Compares the read models with the log. `src/freshness/freshness.ts` implements it. */
export interface Freshness {
  /**
   * Waits until the given read models have passed a position.
   * @returns false if that takes longer than ten seconds
   */
  waitFor(position: Position, models: readonly string[]): Promise<boolean>;
  /**
   * Waits like `waitFor`, before a write is answered. If that takes too long, every instance refuses to read the models until
   * they have passed the position.
   * @param models default: the models from which a record is read
   * @throws Refusal unavailable (503) if the instances can't be told to do so
   */
  settle(position: Position, models?: readonly string[]): Promise<boolean>;
  /**
   * Waits until the given read models show every write that has been acknowledged.
   * @throws Refusal unavailable (503)
   */
  catchUp(models: readonly string[]): Promise<void>;
  /**
   * Checks that the given read models have tables and don't lag.
   * @throws Refusal unavailable (503, Retry-After)
   */
  require(models: readonly string[]): void;
  /** Returns the refusal for reads of the given read models, one of which lags or has no tables. */
  refusal(models: readonly string[]): Refusal;
}
