/** Read models that lag answer 503 rather than stale data (docs/spec/decisions.md, section 3). */
import { type Refusal, tablesMissing, unavailable } from '#src/shared/refusal.ts';

/** What is known of the read models. */
export interface Stale {
  /** Names of the read models that must not be read now. */
  readonly models: () => readonly string[];
  /** Those of them that have no tables. */
  readonly missing: () => readonly string[];
  /** Whether the event store answers this instance: while it doesn't, read models can't catch up. */
  readonly logAnswers: () => boolean;
}

/** @throws Refusal unavailable (503, Retry-After) when one of these read models lags or has no tables. */
export function requireFresh(stale: Stale, models: readonly string[]): void {
  const behind = stale.models();
  if (behind.length > 0 && behind.some((name) => models.includes(name))) throw notFresh(stale, models);
}

/** The refusal of a read of these read models, one of which lags or has no tables. */
export function notFresh({ missing, logAnswers }: Omit<Stale, 'models'>, models: readonly string[]): Refusal {
  const gone = missing().filter((name) => models.includes(name));
  if (gone.length > 0) return tablesMissing(gone);
  return unavailable(
    logAnswers()
      ? 'the read model is catching up with recent writes; retry in a second'
      : "the event store doesn't answer, and the read model lacks the last writes; retry in a second",
  );
}
