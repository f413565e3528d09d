/** Read models that lag answer 503 rather than stale data (docs/spec/decisions.md, section 3). */
import { type Refusal, tablesMissing, unavailable } from '#src/shared/refusal.ts';

/** The state of the read models. */
export interface Stale {
  /** Names of the read models that must not be read now. */
  readonly models: () => readonly string[];
  /** Returns those of them that have no tables. */
  readonly missing: () => readonly string[];
  /** Returns true if the event store answers this instance; while it doesn't, read models can't catch up. */
  readonly logAnswers: () => boolean;
  /** Returns why one of these read models can't catch up until someone acts; undefined if none has stopped. */
  readonly stopped: (models: readonly string[]) => string | undefined;
}

/** Seconds before a client should ask again when someone has to act first. */
const STOPPED_SECONDS = 30;

/**
 * Checks that these read models have tables and don't lag.
 * @throws Refusal unavailable (503, Retry-After)
 */
export function requireFresh(stale: Stale, models: readonly string[]): void {
  if (models.length === 0) return;
  const behind = stale.models();
  if (behind.length > 0 && behind.some((name) => models.includes(name))) throw notFresh(stale, models);
}

/** Returns the refusal of a read of these read models, one of which lags or has no tables. */
export function notFresh(
  { missing, logAnswers, stopped }: Omit<Stale, 'models'>,
  models: readonly string[],
): Refusal {
  const gone = missing().filter((name) => models.includes(name));
  if (gone.length > 0) return tablesMissing(gone);
  const why = stopped(models);
  if (why !== undefined) return unavailable(why, STOPPED_SECONDS);
  return unavailable(
    logAnswers()
      ? 'the read model is catching up with recent writes; retry in a second'
      : "the event store doesn't answer, and the read model lacks the last writes; retry in a second",
  );
}
