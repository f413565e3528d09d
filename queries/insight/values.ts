/** Reads numbers from the members that REST v1 shows for Observations. */
import { BOUNDS, type Digits, type Point } from '#src/insight/track.ts';
import { isNumber, type Json, type JsonObject, parseStored } from '#src/shared/json/json.ts';
import { listIn, objectIn, textIn } from '#src/v1/elements.ts';
import type { ReadRow } from './rows.ts';

/** A number and its code. */
export interface CodedNumber {
  readonly system: string;
  readonly code: string;
  /** The name that the resource itself gives to the code. */
  readonly display: string | null;
  /** True if the number is from a component of the Observation. */
  readonly isPart: boolean;
  readonly value: number;
  readonly bound: Point['bound'];
  /** UCUM unit; null for numbers without a unit. */
  readonly unit: string | null;
  /** Reference range. */
  readonly low: number | null;
  readonly high: number | null;
  readonly digits: Digits | undefined;
}

/** Matches `< 5 mg/dL`, as `src/v1/observation.ts` shows a quantity with a comparator. */
const BOUND = /^(<=?|>=?) (-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)(?: (\S+))?$/;

/**
 * Statuses of observations that were never made, or haven't been made yet
 * (https://hl7.org/fhir/R4/valueset-observation-status.html).
 */
const WITHOUT_RESULT: ReadonlySet<string | null> = new Set(['cancelled', 'registered']);

/** The numbers of an Observation, and whether its status says that it has no result. */
export interface Stated {
  readonly numbers: readonly CodedNumber[];
  readonly withoutResult: boolean;
  /** True if the value may still change. */
  readonly preliminary: boolean;
}

/** Returns an Observation's numbers: its own, and its components'. */
export function numbersIn(fields: string): Stated {
  const shown = parseStored(`{${fields}}`);
  const numbers: CodedNumber[] = [];
  const own = numberIn(shown, false);
  if (own !== undefined) numbers.push(own);
  for (const each of listIn(shown.components)) {
    const part = numberIn(each, true);
    if (part !== undefined) numbers.push(part);
  }
  const status = textIn(shown.status);
  return { numbers, withoutResult: WITHOUT_RESULT.has(status), preliminary: status === 'preliminary' };
}

/**
 * Returns a number as a point in a track.
 * @param date the row's date
 */
export function makePoint(
  { fhir, version, author, at }: ReadRow,
  date: string,
  { value, bound, low, high, digits }: CodedNumber,
): Point {
  const source = { fhir, version, authorType: author };
  return { date, at: at / 1000, offset: readOffset(date), value, bound, low, high, digits, source };
}

function numberIn(shown: JsonObject, isPart: boolean): CodedNumber | undefined {
  const code = textIn(shown.code);
  if (code === null) return undefined;
  const [system, display] = [textIn(shown.system) ?? '', textIn(shown.display)];
  const range = objectIn(shown.reference_range);
  const value = finiteOrNull(shown.value);
  const [low, high] = [finiteOrNull(range.low), finiteOrNull(range.high)];
  const digits = digitsIn(shown.value, range.low, range.high);
  if (value !== null)
    return { system, code, display, isPart, value, bound: null, unit: textIn(shown.unit), low, high, digits };
  const [, sign, number, unit = null] = BOUND.exec(textIn(shown.value_text) ?? '') ?? [];
  const limit = number === undefined ? Number.NaN : Number(number);
  if (sign === undefined || !Number.isFinite(limit)) return undefined;
  const bound = BOUNDS.find((each) => each === sign) ?? null;
  const own = String(limit) === number ? digits : { ...digits, value: number };
  return { system, code, display, isPart, value: limit, bound, unit, low, high, digits: own };
}

function finiteOrNull(value: Json | undefined): number | null {
  const number = isNumber(value) ? Number(String(value)) : Number.NaN;
  return Number.isFinite(number) ? number : null;
}

/** Returns the literals that JavaScript would print differently; undefined if there are none, as for most values. */
function digitsIn(...[value, low, high]: readonly (Json | undefined)[]): Digits | undefined {
  const literal = (each: Json | undefined): string | undefined =>
    typeof each === 'number' || finiteOrNull(each) === null ? undefined : String(each);
  const digits = { value: literal(value), low: literal(low), high: literal(high) };
  return Object.values(digits).some((each) => each !== undefined) ? digits : undefined;
}

/** Returns a date-time's offset in minutes east of UTC; 0 for a date without a time. */
export function readOffset(date: string): number {
  if (date.length <= 10 || date.endsWith('Z')) return 0;
  const [, sign, hours, minutes] = /T.*([+-])(\d\d):(\d\d)$/.exec(date) ?? [];
  const east = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return sign === '-' ? -east : east;
}
