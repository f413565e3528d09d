/** Compares and copies JSON values, whose numbers may keep their literals (`json.ts`). */
import { isNumber, isObject, type Json } from './json.ts';

/**
 * Returns whether two values are the same JSON: members may be in any order, and numbers are compared by the exact value of
 * their literals, so that 1.50 equals 1.5 and no digit is lost (RFC 6902, section 4.6).
 */
export function sameJson(a: Json | undefined, b: Json | undefined): boolean {
  return same(a, b, (one, other) => decimalForm(one) === decimalForm(other));
}

/**
 * Like `sameJson`, but 1.50 differs from 1.5, because in FHIR the literal of a decimal is significant (R4
 * json.html#primitive).
 */
export function sameLiterals(a: Json | undefined, b: Json | undefined): boolean {
  return same(a, b, (one, other) => one === other);
}

function same(
  a: Json | undefined,
  b: Json | undefined,
  numbers: (one: string, other: string) => boolean,
): boolean {
  if (a === b) return true;
  if (isNumber(a)) return isNumber(b) && numbers(String(a), String(b));
  if (Array.isArray(a)) {
    return (
      Array.isArray(b) && a.length === b.length && a.every((item, index) => same(item, b[index], numbers))
    );
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key], numbers))
  );
}

/**
 * Returns `digits E exponent` without leading or trailing zeros; the result is the same for all literals with the same value.
 */
function decimalForm(literal: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d+))?$/.exec(literal) ?? [];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  // This is a loop, because a regular expression for trailing zeros would restart at every zero inside the number.
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === 0x30) end -= 1;
  const significant = digits.slice(0, end);
  if (significant === '') return '0';
  const power = BigInt(exponent) - BigInt(fraction.length) + BigInt(digits.length - significant.length);
  return `${sign}${significant}E${power}`;
}

/**
 * Returns a deep copy. Numbers with a literal are immutable, so they are shared. A key named `__proto__` stays an ordinary
 * key.
 */
export function copyJson<T extends Json>(value: T): T;
export function copyJson(value: Json): Json {
  if (Array.isArray(value)) return value.map((item) => copyJson(item));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, copyJson(member)]));
}

/** The size of a tree. */
export interface JsonSize {
  /** Number of values, including the tree itself. */
  readonly values: number;
  /** Number of characters in its strings, names and numbers. */
  readonly text: number;
}

/** Returns the size of a tree. */
export function sizeOfJson(value: Json): JsonSize {
  const size = { values: 0, text: 0 };
  const measure = (one: Json): void => {
    size.values += 1;
    if (typeof one === 'string') size.text += one.length;
    else if (Array.isArray(one)) one.forEach(measure);
    else if (isObject(one)) {
      for (const [name, member] of Object.entries(one)) {
        size.text += name.length;
        measure(member);
      }
    } else if (isNumber(one)) size.text += String(one).length;
  };
  measure(value);
  return size;
}

/**
 * Returns whether a tree nests more than `levels` arrays and objects. Looks no deeper than that, so it is safe for trees that
 * are too deep for recursion.
 */
export function isDeeper(value: Json, levels: number): boolean {
  if (!Array.isArray(value) && !isObject(value)) return false;
  if (levels <= 0) return true;
  return Object.values(value).some((member: Json) => isDeeper(member, levels - 1));
}
