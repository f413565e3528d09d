/** Converts observations between REST v1 and FHIR (docs/spec/decisions.md, section 4). Pure. */
import { normalRange } from '#src/clinical/reading/numbers/normal-range.ts';
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

/** A reference range in an answer. */
interface ShownRange {
  readonly low: Decimal | null;
  readonly high: Decimal | null;
}

/** A component in an answer. Its range is absent if the component doesn't have its own. */
interface ShownComponent extends ShownCode, ShownValue {
  readonly reference_range?: ShownRange;
}

/** An observation in an answer. */
interface ShownObservation extends ShownCode, ShownValue {
  readonly category: string | null;
  readonly effective_at: string | null;
  readonly components: ShownComponent[];
  readonly reference_range: ShownRange | null;
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
  const components = listIn(component).map((one): ShownComponent => {
    const shown = { ...shownConcept(one.code, LOINC), ...shownValue(one) };
    const own = one.referenceRange === undefined ? null : shownRange(one);
    return own === null ? shown : { ...shown, reference_range: own };
  });
  const documents = listIn(derivedFrom).flatMap(({ reference }) => {
    const [, id] = /(?:^|\/)DocumentReference\/([^/]+)/.exec(textIn(reference) ?? '') ?? [];
    return id === undefined ? [] : [id];
  });
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
    reference_range: shownRange(observation),
    note: shownNote(observation.note),
    derived_from: documents,
    status: textIn(observation.status),
  };
}

/**
 * Returns the normal range; null if there is none.
 * @param holder an Observation or a component
 */
function shownRange(holder: JsonObject): ShownRange | null {
  const range = normalRange(holder.referenceRange);
  if (range === undefined) return null;
  return { low: limitIn(range.low, holder), high: limitIn(range.high, holder) };
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
