/** Finds the reference range that states what is normal for a value. Pure. */
import { codings, objects, text } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';

/** The code system that R4 prefers for `Observation.referenceRange.type`. */
const MEANING = 'http://terminology.hl7.org/CodeSystem/referencerange-meaning';
/** The codes in that system for treatment targets; a value outside a target isn't outside the normal range. */
const AIMS = new Set<string | undefined>(['recommended', 'treatment', 'therapeutic', 'pre', 'post']);

/**
 * Returns the range that states what is normal. A single range is normal unless it is a treatment target. If there are several
 * ranges, the normal one is the only range of type `normal`, or the only range without a type ("If this element is not present
 * then the normal range is assumed", R4 Observation.referenceRange.type). Returns undefined if none qualifies, or if several
 * do, such as ranges for different ages.
 */
export function normalRange(referenceRange: Json | undefined): JsonObject | undefined {
  const ranges = objects(referenceRange);
  const [only] = ranges;
  // Handled first, because every create takes this path, and nearly all have only one range, without a type.
  if (ranges.length < 2)
    return only === undefined || only.type === undefined || !readMeanings(only).some((code) => AIMS.has(code))
      ? only
      : undefined;
  const normal = ranges.filter((range) => readMeanings(range).includes('normal'));
  const meant = normal.length > 0 ? normal : ranges.filter(({ type }) => type === undefined);
  return meant.length === 1 ? meant[0] : undefined;
}

function readMeanings({ type }: JsonObject): (string | undefined)[] {
  return codings(type).flatMap(({ system, code }) => (system === MEANING ? text(code) : []));
}
