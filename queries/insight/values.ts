/** Reads numbers from the members that REST v1 shows for Observations. */
import { BOUNDS, type Point } from '#src/insight/track.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
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
  const shown = objectIn(JSON.parse(`{${fields}}`));
  const range = objectIn(shown.reference_range);
  const numbers: CodedNumber[] = [];
  const own = numberIn(shown, false, finiteOrNull(range.low), finiteOrNull(range.high));
  if (own !== undefined) numbers.push(own);
  for (const each of listIn(shown.components)) {
    const { low, high } = objectIn(each.reference_range);
    const part = numberIn(each, true, finiteOrNull(low), finiteOrNull(high));
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
  { value, bound, low, high }: CodedNumber,
): Point {
  const source = { fhir, version, authorType: author };
  return { date, at: at / 1000, offset: readOffset(date), value, bound, low, high, source };
}

function numberIn(
  shown: JsonObject,
  isPart: boolean,
  low: number | null,
  high: number | null,
): CodedNumber | undefined {
  const code = textIn(shown.code);
  if (code === null) return undefined;
  const [system, display] = [textIn(shown.system) ?? '', textIn(shown.display)];
  const value = finiteOrNull(shown.value);
  if (value !== null)
    return { system, code, display, isPart, value, bound: null, unit: textIn(shown.unit), low, high };
  const [, sign, number, unit = null] = BOUND.exec(textIn(shown.value_text) ?? '') ?? [];
  const limit = number === undefined ? Number.NaN : Number(number);
  if (sign === undefined || !Number.isFinite(limit)) return undefined;
  const bound = BOUNDS.find((each) => each === sign) ?? null;
  return { system, code, display, isPart, value: limit, bound, unit, low, high };
}

function finiteOrNull(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null;
}

/** Returns a date-time's offset in minutes east of UTC; 0 for a date without a time. */
export function readOffset(date: string): number {
  if (date.length <= 10 || date.endsWith('Z')) return 0;
  const [, sign, hours, minutes] = /T.*([+-])(\d\d):(\d\d)$/.exec(date) ?? [];
  const east = Number(hours ?? 0) * 60 + Number(minutes ?? 0);
  return sign === '-' ? -east : east;
}
