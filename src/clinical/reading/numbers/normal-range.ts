/** Finds the reference range that states what is normal for a value, and whether the value is outside it. Pure. */
import { codings, objects, text } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import { readMembers } from '../fields.ts';
import { decimalText } from './decimal.ts';

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

/**
 * Returns on which side of its normal range a value certainly is; undefined if it may be in the range, or if their units differ.
 * A value with a comparator is outside if all numbers that it may stand for are: `> 2000` is above a limit of 14.
 * @param holder an Observation or a component
 */
export function placeOutside({
  valueQuantity,
  valueInteger,
  referenceRange,
}: JsonObject): 'low' | 'high' | undefined {
  const range = normalRange(referenceRange);
  if (range === undefined) return undefined;
  const quantity = readMembers(valueQuantity ?? { value: valueInteger });
  const [number, low, high] = [quantity, range.low, range.high].map((each) => readNumber(each, quantity));
  const { comparator } = quantity;
  if (number === undefined) return undefined;
  const [isLess, isMore] = [
    comparator === '<' || comparator === '<=',
    comparator === '>' || comparator === '>=',
  ];
  const isOpen = comparator === '<' || comparator === '>';
  if (low !== undefined && !isMore && (number < low || (isOpen && number === low))) return 'low';
  return high !== undefined && !isLess && (number > high || (isOpen && number === high)) ? 'high' : undefined;
}

/** Returns a limit's number; undefined without one, or if the limit is in another unit than the value. */
function readNumber(limit: unknown, quantity: Readonly<Record<string, unknown>>): number | undefined {
  const members = readMembers(limit);
  const literal = decimalText(members.value);
  const [own, units] = [members, quantity].map(({ code, unit }) =>
    [code, unit].filter((each) => each !== undefined),
  );
  const isSame = own?.length === 0 || own?.some((each) => units?.includes(each));
  return literal === undefined || !isSame ? undefined : Number(literal);
}
