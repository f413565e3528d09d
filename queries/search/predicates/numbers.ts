/** Numbers in searches: prefixes, implicit precision and exact decimals. https://hl7.org/fhir/R4/search.html#number */

import { badParameter } from '../raw.ts';
import type { Prefix } from './dates.ts';

/** A number in a search, as decimal text. */
export interface NumberRange {
  readonly prefix: Prefix;
  readonly value: string;
  /** The range implied by the number's digits: low <= x < high. */
  readonly low: string;
  readonly high: string;
  /** The ends, both inclusive, of the range within a tenth of the number, for `ap`. */
  readonly near: readonly [low: string, high: string];
}

const NUMBER =
  /^(eq|ne|gt|lt|ge|le|sa|eb|ap)?([+-]?)(?=\.?\d)(\d{0,40})(?:\.(\d{0,40}))?(?:[eE]([+-]?\d{1,3}))?$/;

/**
 * Parses a number with its prefix. `100` means 99.5 to 100.5, and `100.0` means 99.95 to 100.05. An exponent adds a digit, as
 * in R4's own example: `1e2` means 95 to 105.
 * @param name the parameter, for the error message
 * @throws Refusal `malformed` for an invalid number
 */
export function parsePrefixedNumber(name: string, text: string): NumberRange {
  const [matched, prefix, sign, whole = '', fraction = '', exponent] = NUMBER.exec(text) ?? [];
  if (matched === undefined) throw badParameter(name, 'the value must be a number');
  const power = Number(exponent ?? 0) - fraction.length;
  // Two more digits than given, so that half a unit of either precision is a whole number.
  const digits = BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`) * 100n;
  const half = exponent === undefined ? 50n : 5n;
  const decimal = (value: bigint): string => `${value}e${power - 2}`;
  const tenth = (digits < 0n ? -digits : digits) / 10n;
  return {
    prefix: (prefix ?? 'eq') as Prefix,
    value: decimal(digits),
    low: decimal(digits - half),
    high: decimal(digits + half),
    near: [decimal(digits - tenth), decimal(digits + tenth)],
  };
}
