/**
 * Converts quantities to canonical UCUM units with `@lhncbc/ucum-lhc` by exact decimals, so that 1 g equals 1000 mg.
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
 * Parses a decimal text such as `-1.50` or `6e23`.
 * @throws Error for other text.
 */
export function parseDecimal(text: string): Decimal {
  const [matched, sign, whole = '', fraction = '', exponent = '0'] = TEXT.exec(text) ?? [];
  if (matched === undefined || whole + fraction === '') throw new Error(`no decimal: ${text}`);
  return {
    digits: BigInt(`${sign === '-' ? '-' : ''}${whole}${fraction}`),
    power: Number(exponent) - fraction.length,
  };
}

/** Returns a text that PostgreSQL reads as `numeric`, without redundant zeros at its end. */
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

/** Significant digits of a number next to another one: no search asks for so many, and an index has room for them. */
const NEXT_DIGITS = 30;

/** Returns the decimal text of a number just above (1) or below (-1) another one; infinite ones stay as they are. */
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

/** The URL of UCUM as a code system in FHIR. */
export const UCUM = 'http://unitsofmeasure.org';

/** The conversion of a unit's values to the base units of its dimension: (value + offset) × factor. */
interface CanonicalUnit {
  /**
   * Exponents of UCUM's base units, the unit's arbitrary units, and whether it counts equivalents or is a ratio of amounts
   * of substance: values are comparable if it is equal.
   */
  readonly dimension: string;
  readonly factor: Decimal;
  readonly offset: Decimal;
  /** True if the factor is an exact decimal; for 5/9 and pi it is the nearest one with 15 digits. */
  readonly exact: boolean;
}

/** Significant digits of results if the factor isn't a decimal; a factor with at most as many digits counts as one. */
const SIGNIFICANT = 12;
/**
 * Offsets of scales whose zero differs from the base unit's, in their own degrees. Other functions (pH, dB) have no
 * factor.
 */
const OFFSETS: Readonly<Record<string, Decimal>> = {
  Cel: parseDecimal('273.15'),
  degF: parseDecimal('459.67'),
};
/** Maximum number of cached units: some hundreds are in use, and clients may invent any number. */
const REMEMBERED = 5_000;
const NONE = parseDecimal('0');

const known = new Map<string, CanonicalUnit | undefined>();

/**
 * Converts a range to canonical units.
 * @param code UCUM code (case sensitive) of both ends' unit.
 * @param low decimal text or `-Infinity`.
 * @param high decimal text or `Infinity`.
 * @returns undefined for an invalid UCUM code, or one whose scale has no factor. Ends are exact if the unit's factor is
 *   a decimal; otherwise they are rounded to 12 significant digits.
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

/** Looks up a unit in the library, with checks before: the library trims blanks, and throws for some invalid texts. */
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
  // Rounding to 15 digits removes errors of binary fractions: 0.025400000000000002 m becomes 0.0254.
  const factor = parseDecimal(String(Number(unit.magnitude_.toPrecision(15))));
  const exact = String(factor.digits).replace(/0+$/, '').length <= SIGNIFICANT;
  const arbitrary = unit.isArbitrary_ ? arbitraryUnits(code) : '';
  return { dimension: exponents.join() + arbitrary + countedAs(code), factor, offset, exact };
}

/**
 * Returns the arbitrary units of a code, which are comparable only with themselves: the names in brackets, `[IU]` as
 * `[iU]`.
 */
function arbitraryUnits(code: string): string {
  return (code.match(/\[[^\]]*\]/g) ?? []).map((name) => ` ${name.replace('[IU]', '[iU]')}`).join('');
}

/**
 * Returns how a code counts substance where that keeps results apart, though UCUM's mole and equivalent are numbers: `%`
 * and `mmol/mol` of HbA1c are results of different methods, and a `meq` is a `mmol` only for a charge of one.
 */
function countedAs(code: string): string {
  const bare = code.replace(/\{[^}]*\}/g, '');
  const isRatio = (bare.match(/mol/g) ?? []).length > 1;
  const isEquivalent = /(?:^|[^a-z])[a-z]?eq(?![a-z])/.test(bare);
  return `${isRatio ? ' mol/mol' : ''}${isEquivalent ? ' eq' : ''}`;
}
