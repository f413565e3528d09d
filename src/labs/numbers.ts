/** Numbers as laboratories write them. */
import { type Json, parseJson } from '#src/shared/json.ts';

/** A number, and what stood before it. */
export interface Measured {
  readonly comparator?: '<' | '<=' | '>=' | '>';
  /** With its literal: `1.50` stays so. */
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
/** No number is longer: patterns are not tried on what is. */
const LONGEST = 60;
/** R4 datatypes.html#decimal: what more digits say, not all can read. */
const MOST_DIGITS = 18;

/** `FHIR`'s comparator for one as it is written; undefined for another text. */
export function comparatorOf(text: string): Measured['comparator'] {
  return COMPARATORS[text.replaceAll(/\s/g, '')];
}

/**
 * A decimal: `5.6`, `+5`, `.5`, `1.2E3`, with a comma `5,6`.
 * @returns undefined for another text, and for one that can be read in two ways: `1,234` is a thousand or one.
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

/** A number with a comparator before it, or without: `< 5`, `>=60`. */
export function measuredIn(text: string): Measured | undefined {
  const [, sign = '', rest = ''] = /^\s*([<>=≤≥]{0,2})\s*(.*)$/su.exec(text) ?? [];
  const value = decimalIn(rest);
  if (value === undefined) return undefined;
  if (sign === '' || sign === '=') return { value };
  const comparator = comparatorOf(sign);
  return comparator === undefined ? undefined : { comparator, value };
}
