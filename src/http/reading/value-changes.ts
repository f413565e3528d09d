/** Describes in words how later versions of a result changed its value: when, and what the value was before. */
import type { ReadReplaced } from '#queries/history/replaced-versions.ts';
import { hasModifier, hasResult, withdrawnAs } from '#src/clinical/reading/status.ts';
import type { Replaced } from '#src/clinical/reading/told.ts';
import { dayIn } from '#src/shared/time/day.ts';
import type { Texts } from '../pages/texts.ts';
import { dateText } from './day-text.ts';
import type { Measure, Observation } from './measures.ts';
import { readResult } from './stored-results.ts';
import { valueText } from './values.ts';

/** A result that a later version replaced, and when that version was stored. */
export interface ReplacedResult {
  readonly result: Observation;
  readonly until: string;
}

/**
 * Reads the results that later versions of an entry replaced, newest first. Versions without a result, or with a result that
 * can't be interpreted, are left out.
 */
export function readReplacedResults(id: string, replaced: readonly Replaced[]): ReplacedResult[] {
  return replaced
    .filter(({ value }) => hasResult(value.status) && withdrawnAs(value) === undefined && !hasModifier(value))
    .map(({ value, until }) => {
      const stored = { id, value, version: 0, recorded: 0, author: '' };
      return { result: readResult(stored, new Map()), until };
    });
}

/**
 * Returns the latest change to a result's value; undefined if it wasn't changed.
 * @param replaced newest first
 */
export function valueChangeText(
  say: Texts,
  result: Observation,
  replaced: readonly ReplacedResult[],
): string | undefined {
  const value = valueText(say, result);
  const before = replaced.find((each) => valueText(say, each.result) !== value);
  if (before === undefined) return undefined;
  return say('known.revised', {
    what: say('element.value'),
    day: dateText(say, dayIn(before.until)),
    before: valueText(say, before.result),
  });
}

/** A number higher than any version, because REST v1 lists don't include the current version's number. */
const NEWEST = 2_147_483_647;

/** Returns measures with descriptions of how later versions changed their newest values. */
export async function withValueChanges(
  say: Texts,
  measures: readonly Measure[],
  read: ReadReplaced,
): Promise<readonly Measure[]> {
  const changed = measures.flatMap(({ latest }) => {
    const { id, updated_at: updated, created_at: created } = latest ?? {};
    return id === undefined || updated === undefined || updated === created ? [] : [{ id, version: NEWEST }];
  });
  if (changed.length === 0) return measures;
  const replaced = await read(changed);
  return measures.map((measure) => {
    const { latest } = measure;
    const versions = latest === undefined ? undefined : replaced.get(latest.id);
    if (latest === undefined || versions === undefined) return measure;
    return { ...measure, changed: valueChangeText(say, latest, readReplacedResults(latest.id, versions)) };
  });
}
