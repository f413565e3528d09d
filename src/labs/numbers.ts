/** Parses numbers as laboratories write them. */
import { type Json, parseJson } from '#src/shared/json/json.ts';

/** A number with its comparator. */
export interface Measured {
  readonly comparator?: '<' | '<=' | '>=' | '>';
  /** The number as written: `1.50` stays `1.50`. */
  readonly value: Json;
}

const COMPARATORS: Readonly<Record<string, Measured['comparator']>> = {
  '<': '<',
  '<=': '<=',
  '=<': '<=',
  '≤': '<=',
  '>': '>',
  '>=': '>=',
  '=>': '>=',
  '≥': '>=',
};
const NUMBER = /^([+-]?)0*(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,3}))?$/;
/** The maximum length of text that is parsed as a number. */
const LONGEST = 60;
/** R4 datatypes.html#decimal: implementations needn't support more digits. */
const MOST_DIGITS = 18;

/** Returns FHIR's comparator; undefined for any other text. */
export function readComparator(text: string): Measured['comparator'] {
  return COMPARATORS[text.replaceAll(/\s/g, '')];
}

/**
 * Parses a decimal: `5.6`, `+5`, `.5`, `1.2E3`, or `5,6` with a comma.
 * @returns undefined for any other text, and for ambiguous text: `1,234` may be about a thousand or about one
 */
export function decimalIn(text: string): Json | undefined {
  if (text.length > LONGEST) return undefined;
  const dotted = withDot(text.trim().replace(/^[−–]/, '-'));
  const [, sign, whole = '', fraction = '', exponent] = NUMBER.exec(dotted ?? '') ?? [];
  if (sign === undefined || !/\d/.test(dotted ?? '')) return undefined;
  if (!/\d/.test((dotted ?? '').split(/[eE]/)[0] ?? '') || whole.length + fraction.length > MOST_DIGITS)
    return undefined;
  const literal = `${sign === '-' ? '-' : ''}${whole || '0'}${fraction === '' ? '' : `.${fraction}`}`;
  return parseJson(exponent === undefined ? literal : `${literal}e${exponent}`).value;
}

function withDot(text: string): string | undefined {
  const [, sign, whole = '', fraction = ''] = /^([+-]?)(\d+),(\d+)$/.exec(text) ?? [];
  if (sign === undefined) return text;
  const thousands = fraction.length === 3 && /^[1-9]\d{0,2}$/.test(whole);
  return thousands ? undefined : `${sign}${whole}.${fraction}`;
}

/** Parses a number with an optional comparator: `< 5`, `>=60`. */
export function measuredIn(text: string): Measured | undefined {
  const [, sign = '', rest = ''] = /^\s*([<>=≤≥]{0,2})\s*(.*)$/su.exec(text) ?? [];
  const value = decimalIn(rest);
  if (value === undefined) return undefined;
  if (sign === '' || sign === '=') return { value };
  const comparator = readComparator(sign);
  return comparator === undefined ? undefined : { comparator, value };
}
