/** May a read be answered yet? Read models follow the log, so reads wait for them or are refused. */
import type { Refusal } from '#src/shared/refusal.ts';
import type { Position } from './position.ts';

/** Compares the read models with the log. `src/freshness/freshness.ts` implements it. */
export interface Freshness {
  /** Waits until read models have passed a position. @returns false if that takes longer than ten seconds */
  waitFor(position: Position, models: readonly string[]): Promise<boolean>;
  /**
   * Waits like `waitFor`, before a write is answered. If it takes too long, every instance refuses to read the models
   * until they have passed the position.
   * @param models default: those that a record is read from
   * @throws Refusal unavailable (503) if that can't be arranged
   */
  settle(position: Position, models?: readonly string[]): Promise<boolean>;
  /** Waits until read models show every write that was acknowledged before. @throws Refusal unavailable (503) */
  catchUp(models: readonly string[]): Promise<void>;
  /** Checks that read models have tables and don't lag. @throws Refusal unavailable (503, Retry-After) */
  require(models: readonly string[]): void;
  /** Returns the refusal of a read of these read models, one of which lags or has no tables. */
  refusal(models: readonly string[]): Refusal;
}
