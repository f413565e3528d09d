/**
 * Determines when a write may be answered: once its read models contain the write, or once every instance knows that they
 * don't contain it yet.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { LOOK_HOLDS_MS } from '#projections/freshness.ts';
import type { Position } from '../events/store.ts';
import { unavailable } from '../shared/refusal.ts';

/** How long a write waits for its read models before it is recorded as late, in ms. */
const NOTE_AFTER_MS = 5_000;
/** How long the write waits after that, in ms: longer than an instance may rely on its last reading of the late writes. */
const ANSWER_AFTER_MS = 5_000;
if (ANSWER_AFTER_MS <= LOOK_HOLDS_MS) throw new RangeError('an instance may not have seen a notice yet');

/**
 * Returns a function that waits, at most ten seconds, until read models contain a position, and returns whether they do. If
 * they don't, the function records the position, and every instance refuses to read those models until they contain it. It
 * doesn't wait for models without tables: no instance can read them, and by the time the tables are back, each instance will
 * have read the recorded position. It throws a Refusal unavailable (503) if the position can't be recorded, because the write
 * must not be confirmed then.
 */
export function openSettle({
  note,
  waitFor,
  missing,
  lookForMissing,
}: {
  /** Records, for every instance, that reads of these models must include a position. */
  readonly note: (position: Position, models: readonly string[]) => Promise<void>;
  /** Waits until read models have passed a position; resolves to false if that takes longer than `ms`. */
  readonly waitFor: (position: Position, models: readonly string[], ms: number) => Promise<boolean>;
  /** Returns the read models that had no tables when last checked. */
  readonly missing: () => readonly string[];
  /** Returns which of the given models have no tables now. */
  readonly lookForMissing: (models: readonly string[]) => Promise<readonly string[]>;
}): (position: Position, models: readonly string[]) => Promise<boolean> {
  /** For each model, the newest recorded position that every instance must have read in the meantime. */
  const noted = new Map<string, Position>();
  const noteDown = async (position: Position, models: readonly string[]): Promise<void> => {
    try {
      await note(position, models);
    } catch {
      throw unavailable(
        "the change was saved, but reads don't show it yet and the database doesn't answer; send the request again with the same Idempotency-Key",
      );
    }
  };
  const withoutTables = async (position: Position, models: readonly string[]): Promise<void> => {
    await noteDown(position, models);
    const still = await lookForMissing(models).catch(() => []);
    // A rebuild may just have filled the tables, and instances that haven't read the recorded position yet may read them.
    if (still.length < models.length) await delay(ANSWER_AFTER_MS);
  };
  const settle = async (position: Position, models: readonly string[]): Promise<boolean> => {
    const gone = missing().filter((name) => models.includes(name));
    if (gone.length > 0) {
      const others = models.filter((name) => !gone.includes(name));
      await Promise.all([
        withoutTables(position, gone),
        others.length === 0 ? undefined : settle(position, others),
      ]);
      return false;
    }
    if (models.every((model) => (noted.get(model) ?? '') >= position)) return waitFor(position, models, 0);
    if (await waitFor(position, models, NOTE_AFTER_MS)) return true;
    if (missing().some((name) => models.includes(name))) return settle(position, models);
    await noteDown(position, models);
    const waiting = new AbortController();
    const known = delay(ANSWER_AFTER_MS, undefined, { signal: waiting.signal }).catch(() => undefined);
    if (await waitFor(position, models, ANSWER_AFTER_MS)) {
      waiting.abort();
      return true;
    }
    await known;
    for (const model of models) if ((noted.get(model) ?? '') < position) noted.set(model, position);
    return false;
  };
  return settle;
}
