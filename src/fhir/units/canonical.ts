/**
 * Converts quantities to canonical UCUM units with `@lhncbc/ucum-lhc`, in exact decimals, so that 1 g equals 1000 mg.
 * https://ucum.org/ucum
 */
import { ucumLibrary } from './spelled-units.ts';

/** A decimal number. */
interface Decimal {
  readonly digits: bigint;
  readonly power: number;
}

const TEXT = /^([+-]?)(\d*)(?:\.(\d*))?(?:[eE]([+-]?\d{1,6}))?$/;

/**
 * Parses decimal text such as `-1.50` or `6e23`.
 * @throws Error for any other text.
 */
export function parseDecimal(text: string): Decimal {
  const [matched, sign, whole = '', fraction = '', exponent = '0'] = TEXT.exec(text) ?? [];
  if (matched === undefined || whole + fraction === '') throw new Error(`no decimal: ${text}`);
  return {
    digits: BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`),
    power: Number(exponent) - fraction.length,
  };
}

/** Returns text that PostgreSQL reads as `numeric`, without redundant trailing zeros. */
export function decimalText({ digits, power }: Decimal): string {
  if (power === 0 || digits === 0n) return String(digits);
  const text = String(digits);
  let end = text.length;
  while (text[end - 1] === '0') end -= 1;
  const exponent = power + text.length - end;
  return exponent === 0 ? text.slice(0, end) : `${text.slice(0, end)}e${exponent}`;
}

/** Returns the product of two decimals. */
export function times(a: Decimal, b: Decimal): Decimal {
  return { digits: a.digits * b.digits, power: a.power + b.power };
}

/** Returns the sum of two decimals. */
export function plus(a: Decimal, b: Decimal): Decimal {
  if (b.digits === 0n) return a;
  const power = Math.min(a.power, b.power);
  const aligned = (each: Decimal) => each.digits * 10n ** BigInt(each.power - power);
  return { digits: aligned(a) + aligned(b), power };
}

/**
 * Number of significant digits in the nearest number above or below: no search asks for that many, and a number with that many
 * fits in an index.
 */
const NEXT_DIGITS = 30;

/** Returns the decimal text of the number just above (1) or below (-1) a number; infinity stays as it is. */
export function nextTo(text: string, side: 1n | -1n): string {
  if (text.endsWith('Infinity')) return text;
  const value = parseDecimal(text);
  const { length } = String(value.digits).replace('-', '');
  return decimalText(plus(value, { digits: side, power: value.power + Math.min(-1, length - NEXT_DIGITS) }));
}

/** Returns a value rounded to a number of significant digits, half away from zero. */
export function rounded(value: Decimal, significant: number): Decimal {
  const negative = value.digits < 0n;
  const digits = negative ? -value.digits : value.digits;
  const surplus = String(digits).length - significant;
  if (surplus <= 0) return value;
  const unit = 10n ** BigInt(surplus);
  const kept = (digits + unit / 2n) / unit;
  return { digits: negative ? -kept : kept, power: value.power + surplus };
}

/** UCUM's URL as a code system in FHIR. */
export const UCUM = 'http://unitsofmeasure.org';

/** How to convert a unit's values to the base units of its dimension: (value + offset) × factor. */
interface CanonicalUnit {
  /**
   * Exponents of UCUM's base units, followed by the unit's arbitrary units and by whether the unit counts equivalents or is a
   * ratio of amounts of substance. Values with the same dimension are comparable.
   */
  readonly dimension: string;
  readonly factor: Decimal;
  readonly offset: Decimal;
  /** True if the factor is an exact decimal. Otherwise (5/9, pi), the factor is the nearest decimal with 15 digits. */
  readonly exact: boolean;
}

/**
 * Number of significant digits in results if the factor isn't an exact decimal. A factor is treated as exact if it has at most
 * this many digits.
 */
const SIGNIFICANT = 12;
/**
 * Offsets of scales whose zero differs from the base unit's, in degrees of the scale. Units with other functions (pH, dB) have
 * no factor.
 */
const OFFSETS: Readonly<Record<string, Decimal>> = {
  Cel: parseDecimal('273.15'),
  degF: parseDecimal('459.67'),
};
/** Maximum number of cached units. A few hundred are in common use, but clients may invent any number. */
const REMEMBERED = 5_000;
const NONE = parseDecimal('0');

const known = new Map<string, CanonicalUnit | undefined>();

/**
 * Converts a range to canonical units.
 * @param code the UCUM code (case-sensitive) of the unit of both ends.
 * @param low decimal text or `-Infinity`.
 * @param high decimal text or `Infinity`.
 * @returns undefined if the UCUM code is invalid or its scale has no factor. Both ends are exact if the unit's factor is an
 *   exact decimal; otherwise they are rounded to 12 significant digits.
 */
export function canonicalRange(
  code: string,
  low: string,
  high: string,
): { readonly dimension: string; readonly low: string; readonly high: string } | undefined {
  const unit = canonicalUnit(code);
  if (unit === undefined) return undefined;
  const from = converted(low, unit);
  return { dimension: unit.dimension, low: from, high: high === low ? from : converted(high, unit) };
}

function converted(text: string, { factor, offset, exact }: CanonicalUnit): string {
  if (text.endsWith('Infinity')) return text;
  const value = times(plus(parseDecimal(text), offset), factor);
  return decimalText(exact ? value : rounded(value, SIGNIFICANT));
}

function canonicalUnit(code: string): CanonicalUnit | undefined {
  if (known.has(code)) return known.get(code);
  const unit = lookUp(code);
  if (known.size >= REMEMBERED) known.clear();
  known.set(code, unit);
  return unit;
}

/**
 * Looks up a unit in the library. The code is checked first, because the library trims blanks and throws for some invalid
 * codes.
 */
function lookUp(code: string): CanonicalUnit | undefined {
  if (!/^[!-~]{1,100}$/.test(code)) return undefined;
  try {
    return read(code);
  } catch {
    return undefined;
  }
}

function read(code: string): CanonicalUnit | undefined {
  const { status, unit } = ucumLibrary().getSpecifiedUnit(code, 'validate');
  const exponents = unit?.dim_?.dimVec_;
  if (status !== 'valid' || unit === undefined || unit === null || !Array.isArray(exponents))
    return undefined;
  const offset = unit.cnv_ === null ? NONE : OFFSETS[unit.cnv_];
  if (offset === undefined || unit.cnvPfx_ !== 1) return undefined;
  // Rounding to 15 digits removes errors from binary fractions: 0.025400000000000002 m becomes 0.0254.
  const factor = parseDecimal(String(Number(unit.magnitude_.toPrecision(15))));
  const exact = String(factor.digits).replace(/0+$/, '').length <= SIGNIFICANT;
  const arbitrary = unit.isArbitrary_ ? arbitraryUnits(code) : '';
  return { dimension: exponents.join() + arbitrary + countedAs(code), factor, offset, exact };
}

/**
 * Returns the arbitrary units in a code: the names in brackets, with `[IU]` as `[iU]`. Each arbitrary unit is comparable only
 * with itself.
 */
function arbitraryUnits(code: string): string {
  return (code.match(/\[[^\]]*\]/g) ?? []).map((name) => ` ${name.replace('[IU]', '[iU]')}`).join('');
}

/**
 * Returns how a code counts amounts of substance. UCUM treats mole and equivalent as plain numbers, but some results must be
 * kept apart: HbA1c in `%` comes from a different method than HbA1c in `mmol/mol`, and one `meq` equals one `mmol` only for a
 * charge of one.
 */
function countedAs(code: string): string {
  const bare = code.replace(/\{[^}]*\}/g, '');
  const isRatio = (bare.match(/mol/g) ?? []).length > 1;
  const isEquivalent = /(?:^|[^a-z])[a-z]?eq(?![a-z])/.test(bare);
  return `${isRatio ? ' mol/mol' : ''}${isEquivalent ? ' eq' : ''}`;
}
