/** Parses reference ranges (OBX-7) as laboratories write them. */
import { cut } from '#src/shared/cut.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { toUcum } from '../fhir/units/spelled-units.ts';
import { type Decimal, listIn, objectIn } from '../v1/elements.ts';
import { decimalIn } from './numbers.ts';
import { makeQuantity } from './quantity.ts';

const NUMBER = String.raw`[+-]?\d{1,3}(?:,\d{3}){2,}|[+-]?\d+(?:[.,]\d+)?|[+-]?[.,]\d+`;
/** Matches a number whose thousands are separated by commas. */
const THOUSANDS = /^[1-9]\d{0,2}(?:,\d{3})+$/;
/** Matches a number whose commas can only separate thousands: it has three digits before the comma, or several commas. */
const SURELY_THOUSANDS = /^(?:\d{3},\d{3}|\d{1,3}(?:,\d{3}){2,})$/;
const BETWEEN = new RegExp(
  String.raw`^[[(]?\s*(${NUMBER})\s*(?:-|–|—|to|bis|till|tot|à|\.\.\.?)\s*(${NUMBER})\s*[\])]?(.*)$`,
  'su',
);
const BOUND = new RegExp(
  String.raw`^([<>≤≥]=?|=[<>]|up to|bis|below|under|above|over)\s*(${NUMBER})(.*)$`,
  'su',
);
/** `> OR =` */
const OR_EQUAL = /([<>])\s*or\s*=/i;
const LOWER = /^(?:>|≥|=>|above|over)/;

/** Maximum length of text that is parsed; two numbers and their unit are always shorter. */
const LONGEST = 200;

/**
 * Returns a reference range. The range always has the text. It has `low` and `high` only if the text consists of two numbers,
 * or of a single bound.
 * @param unit as written
 * @param code in UCUM
 */
export function makeRange(text: string, unit: string, code: string | undefined): JsonObject {
  const trimmed = text.trim();
  if (trimmed.length > LONGEST) return { text: trimmed };
  const bare = withoutUnit(trimmed, unit.trim()).replace(OR_EQUAL, '$1=');
  const ends = withoutThousands(readEnds(bare, code));
  const quantity = (end: string | undefined): JsonObject | undefined => {
    const value = end === undefined ? undefined : decimalIn(end.replace(/^([+-]?)[.,]/, '$10.'));
    return value === undefined ? undefined : makeQuantity({ value }, unit, code);
  };
  const low = quantity(ends.low);
  const high = quantity(ends.high);
  const understood =
    (low !== undefined) === (ends.low !== undefined) && (high !== undefined) === (ends.high !== undefined);
  if (!understood || Number(String(low?.value)) > Number(String(high?.value))) return { text: trimmed };
  return {
    ...(low === undefined ? {} : { low }),
    ...(high === undefined ? {} : { high }),
    text: trimmed,
  };
}

/**
 * Returns which given end of the range contradicts the text, or is missing from the text. Returns undefined if neither does,
 * or if the text is neither two numbers nor a bound.
 * @param unit of the value, as written
 */
export function contradicted(
  text: string,
  unit: string,
  ends: { readonly low?: Decimal | undefined; readonly high?: Decimal | undefined },
): 'low' | 'high' | undefined {
  const { low, high } = makeRange(text, unit, toUcum(unit));
  if (low === undefined && high === undefined) return undefined;
  const differs = (said: Json | undefined, sent: Decimal | undefined): boolean =>
    sent !== undefined && Number(sent) !== Number(String(objectIn(said).value));
  if (differs(low, ends.low)) return 'low';
  return differs(high, ends.high) ? 'high' : undefined;
}

/**
 * Returns the warning for a number whose range couldn't be parsed; undefined if it could. Results in words get no warning,
 * because their ranges are in words too.
 * @param resource an Observation with the range, or the members of an Observation
 */
export function unreadRange({ valueQuantity, referenceRange }: JsonObject): string | undefined {
  const [{ low, high, text } = {}] = listIn(referenceRange);
  if (valueQuantity === undefined || typeof text !== 'string' || low !== undefined || high !== undefined)
    return undefined;
  return `the reference range ${cut(text, 60)} is kept as text; write two numbers or a bound, for example 3.9 - 5.5 or < 5`;
}

interface Ends {
  readonly low?: string | undefined;
  readonly high?: string | undefined;
}

/**
 * Returns the ends without the commas that separate thousands, if at least one end shows that its commas do so:
 * `150,000-450,000`. A single `1,234` may be a decimal.
 */
function withoutThousands({ low, high }: Ends): Ends {
  const ends = [low, high].filter((end) => end !== undefined);
  const areThousands =
    ends.some((end) => SURELY_THOUSANDS.test(end)) &&
    ends.every((end) => THOUSANDS.test(end) || /^\d+$/.test(end));
  return areThousands ? { low: low?.replaceAll(',', ''), high: high?.replaceAll(',', '') } : { low, high };
}

/** Returns a range's text without the value's unit at its end. */
function withoutUnit(text: string, unit: string): string {
  return unit !== '' && text.endsWith(unit) ? text.slice(0, -unit.length).trim() : text;
}

/**
 * Returns the ends of a range.
 * @param code UCUM code of the value's unit: a range in another unit would have different numbers
 */
function readEnds(text: string, code: string | undefined): Ends {
  const isUnit = (rest: string): boolean =>
    rest.trim() === '' || (code !== undefined && toUcum(rest) === code);
  const [, low, high, after = ''] = BETWEEN.exec(text) ?? [];
  if (low !== undefined && isUnit(after)) return { low, high };
  const [, sign, bound, rest = ''] = BOUND.exec(text) ?? [];
  if (sign === undefined || !isUnit(rest)) return {};
  return LOWER.test(sign) ? { low: bound } : { high: bound };
}
