/** Chooses the reference range of an Observation with which its value is compared. Pure. */
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { listIn, objectIn, textIn } from './elements.ts';

/** The code system that R4 prefers for `Observation.referenceRange.type`. */
const MEANING = 'http://terminology.hl7.org/CodeSystem/referencerange-meaning';
/** Its codes for targets of a treatment: a value outside of these isn't out of the normal range. */
const AIMS = new Set<string | null>(['recommended', 'treatment', 'therapeutic', 'pre', 'post']);

/**
 * Returns the range that says what is normal: the only one, unless it is a target of a treatment; of several the only
 * one of type `normal`, or the only one without a type ("If this element is not present then the normal range is
 * assumed", R4 Observation.referenceRange.type). Undefined if there is none, or several are possible, such as ranges
 * for different ages.
 */
export function normalRange(referenceRange: Json | undefined): JsonObject | undefined {
  const ranges = listIn(referenceRange);
  const [only] = ranges;
  // Every create passes here, and nearly all have one range without a type.
  if (ranges.length < 2)
    return only === undefined || only.type === undefined || !readMeanings(only).some((code) => AIMS.has(code))
      ? only
      : undefined;
  const normal = ranges.filter((range) => readMeanings(range).includes('normal'));
  const meant = normal.length > 0 ? normal : ranges.filter(({ type }) => type === undefined);
  return meant.length === 1 ? meant[0] : undefined;
}

function readMeanings({ type }: JsonObject): (string | null)[] {
  return listIn(objectIn(type).coding).flatMap(({ system, code }) =>
    system === MEANING ? textIn(code) : [],
  );
}
