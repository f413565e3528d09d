/** Converts laboratory results, sent as JSON items or as the rows of a table, to Observations. Pure. */

import { isLoincCode } from '#src/fhir/loinc-code.ts';
import { type Json, type JsonObject, printJson } from '#src/shared/json/json.ts';
import { mapSteps, type Steps } from '#src/shared/load/slices.ts';
import { toUcum, unitKept } from '../fhir/units/spelled-units.ts';
import { type Decimal, LOINC, present, splitCode, toConcept, toNote } from '../v1/elements.ts';
import { toObservation } from '../v1/observation.ts';
import { joinLabel } from './codes.ts';
import { chooseUnit } from './international.ts';
import { type Draft, joinKey, type Labs, makeIdentifier, Notes } from './labs.ts';
import { makeQuantity } from './quantity.ts';
import { makeRange, unreadRange } from './range.ts';
import { knownSystem, localSystem } from './systems.ts';
import { textual } from './value.ts';

/** A result: the members of an observation in REST v1, with units and ranges as laboratories write them. */
export interface LabItem {
  readonly code: string;
  readonly system?: string | undefined;
  readonly display?: string | undefined;
  readonly category?: string | undefined;
  /** A FHIR dateTime. */
  readonly effective_at: string;
  readonly value?: Decimal | undefined;
  readonly unit?: string | undefined;
  /** May be a number if there is a unit: `< 5`. */
  readonly value_text?: string | undefined;
  readonly value_code?:
    | { readonly code: string; readonly system?: string | undefined; readonly display?: string | undefined }
    | undefined;
  readonly value_boolean?: boolean | undefined;
  readonly reference_range?:
    | { readonly low?: Decimal | undefined; readonly high?: Decimal | undefined }
    | undefined;
  /** The range as written: `4,0 - 5,6`. */
  readonly range_text?: string | undefined;
  readonly note?: string | undefined;
}

/** The patient, and where the items come from. */
export interface OfItems {
  /** `Patient/<id>`. */
  readonly subject: string;
  /** Name of the source system; empty if unknown. */
  readonly source: string;
  /** The report's id in the source. A result that is sent again with a different value counts as a correction. */
  readonly origin?: string | undefined;
  /** `items`, `rows` */
  readonly place: string;
}

/** Elements that keep their value from an earlier report if the item lacks them. */
const KEPT = ['referenceRange', 'note'];

/** Converts items to Observations, one item per step. */
export function* labsOfItems(items: readonly LabItem[], of: OfItems): Steps<Labs> {
  const notes = new Notes();
  const seen = new Map<string, number>();
  const drafts = yield* mapSteps(items, (item, index): Draft => {
    const place = `${of.place}.${index}`;
    const coded = readCode(item, of.source);
    if (!coded.loinc) notes.unmapped(joinLabel(item.code, item.display ?? ''));
    const value = valueOfItem(item, coded.concept, place, notes);
    const unread = unreadRange(value);
    if (unread !== undefined) notes.warn(place, unread);
    const resource = {
      ...toObservation(
        { code: item.code, category: item.category ?? 'laboratory', effective_at: item.effective_at },
        of.subject,
      ),
      code: coded.concept,
      ...value,
      ...toNote(item.note),
    };
    const key = keyOfItem(item, resource, of, seen);
    const identifier = [makeIdentifier(key)];
    return { type: 'Observation', key, place, keeps: KEPT, resource: { ...resource, identifier } };
  });
  return { drafts, ...notes.told };
}

/**
 * Returns the concept. A code without a system is taken as a LOINC code if it has the form of a LOINC code, otherwise as the
 * source's own code.
 */
function readCode(item: LabItem, source: string): { concept: JsonObject; loinc: boolean } {
  const { system, code } = splitCode(item.code);
  const said = system ?? item.system;
  const named = said === undefined ? undefined : (knownSystem(said) ?? said);
  const loinc = (named === undefined || named === LOINC) && isLoincCode(code);
  const of = loinc ? LOINC : named === LOINC ? localSystem(source) : (named ?? localSystem(source));
  return {
    concept: toConcept({ code, system: of, display: item.display ?? (loinc ? undefined : code) }),
    loinc,
  };
}

function valueOfItem(item: LabItem, concept: JsonObject, place: string, notes: Notes): JsonObject {
  const { value, value_text: text, value_code: coded, value_boolean: truth, reference_range: range } = item;
  const unit = item.unit ?? '';
  const code = chooseUnit(toUcum(unit), concept);
  if (unit !== '' && code === undefined) notes.warn(place, unitKept(unit));
  const words = text === undefined ? undefined : textual(text, { unit, code });
  if (words?.warning !== undefined) notes.warn(place, words.warning);
  const end = (number: Decimal | undefined): Json | undefined =>
    number === undefined ? undefined : makeQuantity({ value: number }, unit, code);
  const ends = present({ low: end(range?.low), high: end(range?.high) });
  const limits =
    item.range_text === undefined ? ends : { ...makeRange(item.range_text, unit, code), ...ends };
  return {
    ...(value === undefined ? {} : { valueQuantity: makeQuantity({ value }, unit, code) }),
    ...words?.element,
    ...(coded === undefined ? {} : { valueCodeableConcept: toConcept(coded) }),
    ...(truth === undefined ? {} : { valueBoolean: truth }),
    ...(Object.keys(limits).length === 0 ? {} : { referenceRange: [limits] }),
  };
}

/**
 * Returns the key of an item. With an origin, the key consists of the origin, the code, and the index among items that are
 * otherwise equal. Without an origin, a result can't replace another result, so the key also includes its value.
 */
function keyOfItem(
  { code, effective_at: effective }: LabItem,
  resource: JsonObject,
  { source, origin }: OfItems,
  seen: Map<string, number>,
): string {
  const value = Object.entries(resource).filter(([name]) => name.startsWith('value'));
  const key =
    origin === undefined
      ? joinKey('item', source, effective, code, printJson(value))
      : joinKey('item', source, origin, code);
  const nth = (seen.get(key) ?? 0) + 1;
  seen.set(key, nth);
  return nth === 1 ? key : `${key}/${nth}`;
}
