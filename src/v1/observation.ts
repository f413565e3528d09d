/** Converts observations between REST v1 and FHIR (docs/spec/decisions.md, section 4). Pure. */
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import {
  type Decimal,
  type GivenCode,
  LOINC,
  listIn,
  numberIn,
  objectIn,
  present,
  type ShownCode,
  shownConcept,
  shownNote,
  shownUnit,
  textIn,
  toConcept,
  toNote,
  toQuantity,
} from './elements.ts';

/** The code system that R4 prefers for `Observation.referenceRange.type`. */
const MEANING = 'http://terminology.hl7.org/CodeSystem/referencerange-meaning';
/** The codes in that system for treatment targets; a value outside a target isn't outside the normal range. */
const AIMS = new Set<string | null>(['recommended', 'treatment', 'therapeutic', 'pre', 'post']);

/**
 * Returns the range that states what is normal. A single range is normal unless it is a treatment target. If there are several
 * ranges, the normal one is the only range of type `normal`, or the only range without a type ("If this element is not present
 * then the normal range is assumed", R4 Observation.referenceRange.type). Returns undefined if none qualifies, or if several
 * do, such as ranges for different ages.
 */
export function normalRange(referenceRange: Json | undefined): JsonObject | undefined {
  const ranges = listIn(referenceRange);
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

function readMeanings({ type }: JsonObject): (string | null)[] {
  return listIn(objectIn(type).coding).flatMap(({ system, code }) =>
    system === MEANING ? textIn(code) : [],
  );
}

const CATEGORY = 'http://terminology.hl7.org/CodeSystem/observation-category';
/** System for the category `symptom`, which R4's system lacks (docs/spec/decisions.md, section 1). */
const OWN_CATEGORY = 'https://annal.dev/fhir/observation-category';

/** The categories in v1 (docs/spec/interface.md, section 2.2). */
export const CATEGORIES = [
  'vital-signs',
  'laboratory',
  'symptom',
  'activity',
  'survey',
  'exam',
  'imaging',
  'social-history',
] as const;

/** A component of an observation. */
export interface GivenComponent extends GivenCode {
  readonly value: Decimal;
  readonly unit: string;
}

/** An observation in a request, with exactly one value. */
export interface GivenObservation extends GivenCode {
  readonly category: string;
  readonly effective_at: string;
  readonly value?: Decimal | undefined;
  readonly unit?: string | undefined;
  readonly value_text?: string | undefined;
  readonly value_code?: GivenCode | undefined;
  readonly value_boolean?: boolean | undefined;
  readonly components?: readonly GivenComponent[] | undefined;
  readonly reference_range?:
    | { readonly low?: Decimal | undefined; readonly high?: Decimal | undefined }
    | undefined;
  readonly note?: string | undefined;
  /** Ids of documents, or references such as `DocumentReference/<id>`. */
  readonly derived_from?: string | readonly string[] | undefined;
}

/** A value in an answer; the members for other types are null. */
interface ShownValue {
  readonly value: Decimal | null;
  readonly unit: string | null;
  readonly value_text: string | null;
  readonly value_code: ShownCode | null;
  readonly value_boolean: boolean | null;
}

/** An observation in an answer. */
interface ShownObservation extends ShownCode, ShownValue {
  readonly category: string | null;
  readonly effective_at: string | null;
  readonly components: (ShownCode & ShownValue)[];
  readonly reference_range: { low: Decimal | null; high: Decimal | null } | null;
  readonly note: string | null;
  /** Ids of documents. */
  readonly derived_from: string[];
  readonly status: string | null;
}

/** Returns a category's code system. */
export function categorySystem(category: string): string {
  return category === 'symptom' ? OWN_CATEGORY : CATEGORY;
}

/**
 * Returns a new Observation.
 * @param subject `Patient/<id>`
 */
export function toObservation(given: GivenObservation, subject: string): JsonObject {
  const { category, value_code: coded, reference_range: range, derived_from: from, unit } = given;
  const limits = range === undefined ? undefined : writeLimits(range, unit);
  const documents = new Set(
    (from === undefined ? [] : typeof from === 'string' ? [from] : from).map(referenceTo),
  );
  return {
    resourceType: 'Observation',
    status: 'final',
    category: [{ coding: [{ system: categorySystem(category), code: category }] }],
    code: toConcept(given, LOINC),
    subject: { reference: subject },
    effectiveDateTime: given.effective_at,
    ...present({
      valueQuantity: given.value === undefined ? undefined : toQuantity(given.value, unit),
      valueString: given.value_text,
      valueCodeableConcept: coded === undefined ? undefined : toConcept(coded),
      valueBoolean: given.value_boolean,
      component: given.components?.map(
        (one): Json => ({ code: toConcept(one, LOINC), valueQuantity: toQuantity(one.value, one.unit) }),
      ),
      referenceRange: limits === undefined ? undefined : [limits],
    }),
    ...(documents.size === 0
      ? {}
      : { derivedFrom: [...documents].map((reference): Json => ({ reference })) }),
    ...toNote(given.note),
  };
}

const DOCUMENT = 'DocumentReference/';

/**
 * Returns a reference to a document.
 * @param document an id, or the reference itself
 */
function referenceTo(document: string): string {
  return document.startsWith(DOCUMENT) ? document : DOCUMENT + document;
}

function writeLimits(
  { low, high }: NonNullable<GivenObservation['reference_range']>,
  unit: string | undefined,
): JsonObject {
  return present({
    low: low === undefined ? undefined : toQuantity(low, unit),
    high: high === undefined ? undefined : toQuantity(high, unit),
  });
}

/** Returns an Observation in the form that v1 shows. */
export function shownObservation(observation: JsonObject): ShownObservation {
  const { category, effectiveDateTime, effectiveInstant, effectivePeriod, component, derivedFrom } =
    observation;
  const codes = listIn(category).flatMap(({ coding }) => listIn(coding).map(({ code }) => textIn(code)));
  const components = listIn(component).map((one) => ({
    ...shownConcept(one.code, LOINC),
    ...shownValue(one),
  }));
  const documents = listIn(derivedFrom).flatMap(({ reference }) => {
    const [, id] = /(?:^|\/)DocumentReference\/([^/]+)/.exec(textIn(reference) ?? '') ?? [];
    return id === undefined ? [] : [id];
  });
  const range = normalRange(observation.referenceRange);
  // The members are set one by one, because every create takes this path, and a spread would take as long as reading the whole
  // resource.
  const { code, system, display } = shownConcept(observation.code, LOINC);
  const { value, unit, value_text, value_code, value_boolean } = shownValue(observation);
  return {
    code,
    system,
    display,
    category: codes.find((one) => CATEGORIES.some((known) => known === one)) ?? null,
    effective_at:
      textIn(effectiveDateTime) ?? textIn(effectiveInstant) ?? textIn(objectIn(effectivePeriod).start),
    value,
    unit,
    value_text,
    value_code,
    value_boolean,
    components,
    reference_range:
      range === undefined
        ? null
        : { low: limitIn(range.low, observation), high: limitIn(range.high, observation) },
    note: shownNote(observation.note),
    derived_from: documents,
    status: textIn(observation.status),
  };
}

/** Returns a range's limit; null if its unit differs from the value's unit, because limits are shown without units. */
function limitIn(end: Json | undefined, { valueQuantity }: JsonObject): Decimal | null {
  const [own, unit] = [shownUnit(end), shownUnit(valueQuantity)];
  return own === null || unit === null || own === unit ? numberIn(objectIn(end).value) : null;
}

const NONE: ShownValue = { value: null, unit: null, value_text: null, value_code: null, value_boolean: null };

/**
 * Returns a value. If v1 has no field for its type, it becomes text. A number with a comparator also becomes text, because the
 * number alone would be wrong.
 */
function shownValue(holder: JsonObject): ShownValue {
  const { valueQuantity, valueCodeableConcept, valueInteger, valueBoolean, valueString } = holder;
  if (valueQuantity !== undefined) {
    const { comparator, value } = objectIn(valueQuantity);
    if (comparator !== undefined) return { ...NONE, value_text: words(valueQuantity) };
    return { ...NONE, value: numberIn(value), unit: shownUnit(valueQuantity) };
  }
  if (valueCodeableConcept !== undefined) {
    const coded = shownConcept(valueCodeableConcept);
    return coded.code === null ? { ...NONE, value_text: coded.display } : { ...NONE, value_code: coded };
  }
  if (typeof valueInteger === 'number') return { ...NONE, value: valueInteger };
  if (typeof valueBoolean === 'boolean') return { ...NONE, value_boolean: valueBoolean };
  if (typeof valueString === 'string') return { ...NONE, value_text: valueString };
  return { ...NONE, value_text: otherWords(holder) };
}

/** Returns a quantity in words, such as `< 5 mg/dL`; empty for an empty quantity. */
function words(quantity: Json | undefined): string {
  const { comparator, value } = objectIn(quantity);
  return [comparator, value, shownUnit(quantity)].filter((part) => part != null).join(' ');
}

/** Returns text for the other types of R4's Observation.value[x]. */
function otherWords(holder: JsonObject): string | null {
  const { valueRange, valueRatio, valueTime, valueDateTime, valuePeriod, valueSampledData } = holder;
  if (valueRange !== undefined) {
    const { low, high } = objectIn(valueRange);
    return between(words(low), words(high), '>=', '<=');
  }
  if (valueRatio !== undefined) {
    const { numerator, denominator } = objectIn(valueRatio);
    const [above, below] = [words(numerator), words(denominator)];
    return above === '' || below === '' ? above || below || null : `${above} : ${below}`;
  }
  if (valuePeriod !== undefined) {
    const { start, end } = objectIn(valuePeriod);
    return between(textIn(start) ?? '', textIn(end) ?? '', 'since', 'until');
  }
  return textIn(valueTime) ?? textIn(valueDateTime) ?? textIn(objectIn(valueSampledData).data);
}

/** Returns `1 to 5` or, for a single limit, `>= 1` or `until 2026`; null if there are no limits. */
function between(low: string, high: string, above: string, below: string): string | null {
  if (low !== '' && high !== '') return `${low} to ${high}`;
  if (low !== '') return `${above} ${low}`;
  return high === '' ? null : `${below} ${high}`;
}
