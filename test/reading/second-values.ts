/**
 * The newest values in a record, for the second reading of raw JSON. It follows FHIR's definitions
 * (https://hl7.org/fhir/R4/observation.html) and doesn't share any code with the product.
 */
import { codesOf, nameOf, read, reference, texts, type Version } from './raw.ts';

/** A measurement or finding at one time. */
export interface ToldValue {
  readonly source: string;
  /** The name of what was measured. */
  readonly name: string | undefined;
  /** When the value was true (`effective[x]`); for a period, its start. */
  readonly measured: string | undefined;
  /** When the result became available, which doesn't say when it was measured. */
  readonly reported: string | undefined;
  readonly parts: readonly ToldPart[];
}

/** An Observation's or a component's value: a number, or words. */
export interface ToldPart {
  readonly code: string | undefined;
  readonly number?: { readonly value: number; readonly comparator: string; readonly unit: string };
  readonly words?: string;
}

const LOINC = 'http://loinc.org';

/** Returns the newest values by LOINC code; several if they were measured at the same time. */
export function findNewest(facts: readonly Version[]): ReadonlyMap<string, readonly ToldValue[]> {
  const newest = new Map<string, { readonly at: number; readonly values: ToldValue[] }>();
  for (const each of facts) {
    const { resource } = each;
    // Cancelled observations were never made, and registered observations have no result yet.
    if (resource.status === 'cancelled' || resource.status === 'registered') continue;
    const [code] = codesOf(resource, 'code', LOINC);
    const value = tellValue(each);
    if (value.parts.length === 0 || code === undefined) continue;
    const date = value.measured ?? value.reported;
    const at = date === undefined ? Number.NEGATIVE_INFINITY : Date.parse(date);
    const known = newest.get(code);
    if (known === undefined || known.at < at) newest.set(code, { at, values: [value] });
    else if (known.at === at) known.values.push(value);
  }
  return new Map([...newest].map(([code, { values }]) => [code, values]));
}

/**
 * Returns the days of measurements without a result that are newer than the newest measurement with a result, by LOINC code.
 */
export function findFailed(
  facts: readonly Version[],
  newest: ReadonlyMap<string, readonly ToldValue[]>,
): ReadonlyMap<string, string> {
  const failed = new Map<string, string>();
  for (const each of facts) {
    const { resource } = each;
    if (resource.status === 'cancelled' || resource.status === 'registered') continue;
    const [code] = codesOf(resource, 'code', LOINC);
    const { parts, measured } = tellValue(each);
    if (parts.length > 0 || code === undefined || measured === undefined) continue;
    const [latest] = newest.get(code) ?? [];
    const known = [failed.get(code), latest?.measured ?? latest?.reported];
    if (known.every((date) => date === undefined || Date.parse(date) < Date.parse(measured)))
      failed.set(code, measured);
  }
  return failed;
}

/** Returns what an Observation states. */
export function tellValue(version: Version): ToldValue {
  const { resource } = version;
  return {
    source: reference(version),
    name: nameOf(resource, 'code'),
    measured: [
      ...texts(resource, 'effectiveDateTime'),
      ...texts(resource, 'effectiveInstant'),
      ...texts(resource, 'effectivePeriod.start'),
      ...texts(resource, 'effectivePeriod.end'),
    ][0],
    reported: texts(resource, 'issued')[0],
    parts: [resource, ...read(resource, 'component')].flatMap((holder) => tellPart(holder)),
  };
}

function tellPart(holder: unknown): ToldPart[] {
  const [code] = codesOf(holder, 'code', LOINC);
  const [quantity] = read(holder, 'valueQuantity');
  const [value] = read(quantity, 'value');
  if (typeof value === 'number') {
    const [unit = ''] = [...texts(quantity, 'unit'), ...texts(quantity, 'code')];
    const [comparator = ''] = texts(quantity, 'comparator');
    return [{ code, number: { value, comparator, unit } }];
  }
  const words = nameOf(holder, 'valueCodeableConcept') ?? texts(holder, 'valueString')[0];
  return words === undefined ? [] : [{ code, words }];
}

/** UCUM units as people write them (https://ucum.org/ucum), for the codes in the records. */
const WRITTEN: Readonly<Record<string, string>> = {
  'mm[Hg]': 'mmHg',
  Cel: '°C',
  'kg/m2': 'kg/m²',
  'mL/min/{1.73_m2}': 'mL/min/1.73 m²',
  'm[IU]/mL': 'mIU/mL',
  'm[IU]/L': 'mIU/L',
  '10*3/uL': '10³/µL',
  '10*6/uL': '10⁶/µL',
};
/** Matches units that are already implied by a value's name. */
const UNSAID = /^[{(](?:score|INR|nominal)[)}]$|^pH$/;

const SIGNS: Readonly<Record<string, string>> = { '<': '<', '<=': '≤', '>=': '≥', '>': '>' };

/** Returns whether a text states a value: its numbers, rounded no more than people do, with comparator and unit. */
export function isSaid({ parts }: ToldValue, text: string): boolean {
  const systolic = parts.find(({ code }) => code === '8480-6');
  const diastolic = parts.find(({ code }) => code === '8462-4');
  if (systolic?.number !== undefined && diastolic?.number !== undefined) {
    const { number } = diastolic;
    const isOne = [...text.matchAll(/(\d+(?:\.\d+)?)\/(\d+(?:\.\d+)?) mmHg/g)].some(
      ([, high = '', low = '']) =>
        isRounded(high, systolic.number?.value ?? 0) && isRounded(low, number.value),
    );
    if (isOne) return true;
  }
  return parts.every(({ number, words = '' }) => {
    if (number === undefined) return text.toLowerCase().includes(words.toLowerCase());
    const { value, comparator, unit } = number;
    const written = UNSAID.test(unit) ? '' : (WRITTEN[unit] ?? unit);
    return [...text.matchAll(/([<>≤≥]?)(-?\d[\d,]*(?:\.\d+)?)/g)].some(
      ({ index, 0: whole, 1: sign = '', 2: digits = '' }) =>
        (isTiny(value, unit) && SIGNS[comparator] === undefined
          ? whole === '<0.1'
          : sign === (SIGNS[comparator] ?? '') &&
            isRounded(digits.replaceAll(',', ''), value, /score/.test(unit))) &&
        (written === '' || text.slice(index + whole.length).startsWith(` ${written}`)),
    );
  });
}

/** Returns whether a value is a score that is close to zero but not zero. Scores have at most one decimal place. */
const isTiny = (value: number, unit: string): boolean => /score/.test(unit) && value > 0 && value < 0.05;

/** Returns whether digits represent a number exactly, or rounded to these digits by at most 5 %; scores are whole numbers. */
function isRounded(digits: string, value: number, isScore = false): boolean {
  const { length: places } = digits.split('.')[1] ?? '';
  const off = Math.abs(Number(digits) - value);
  return off <= 0.5 * 10 ** -places * (1 + 1e-9) && (isScore || off <= Math.abs(value) * 0.05);
}
