/** Quantities in canonical UCUM units, by `@lhncbc/ucum-lhc`: what makes 1 g and 1000 mg equal. https://ucum.org/ucum */
import { createRequire } from 'node:module';
import { type Decimal, decimalOf, decimalText, plus, rounded, times } from './decimal.ts';

/** UCUM as a code system in FHIR. */
export const UCUM = 'http://unitsofmeasure.org';

/** How values in a unit become values in the base units of its dimension: (value + offset) × factor. */
interface CanonicalUnit {
  /** Exponents of UCUM's base units, and the arbitrary units in it: values compare when it is equal. */
  readonly dimension: string;
  readonly factor: Decimal;
  readonly offset: Decimal;
  /** Whether the factor is a decimal; of 5/9 and pi it is the nearest of 15 digits. */
  readonly exact: boolean;
}

/** Digits that are kept if the factor isn't a decimal; a factor with at most as many digits is one. */
const SIGNIFICANT = 12;
/** Scales with another zero than the base unit's, in their own degrees. Other functions (pH, dB) have no factor. */
const OFFSETS: Readonly<Record<string, Decimal>> = { Cel: decimalOf('273.15'), degF: decimalOf('459.67') };
/** How many units are remembered: there are some hundreds in use, and whatever clients invent. */
const REMEMBERED = 5_000;
const NONE = decimalOf('0');

const known = new Map<string, CanonicalUnit | undefined>();
let library: typeof import('@lhncbc/ucum-lhc') | undefined;

/**
 * A range in canonical units.
 * @param code UCUM code (case sensitive) of both ends' unit.
 * @param low decimal text or `-Infinity`.
 * @param high decimal text or `Infinity`.
 * @returns undefined for a code that UCUM does not know, or whose scale has no factor. Ends are exact where the unit's
 * factor is a decimal; else they are rounded to 12 significant digits.
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
  const value = times(plus(decimalOf(text), offset), factor);
  return decimalText(exact ? value : rounded(value, SIGNIFICANT));
}

function canonicalUnit(code: string): CanonicalUnit | undefined {
  if (known.has(code)) return known.get(code);
  const unit = lookUp(code);
  if (known.size >= REMEMBERED) known.clear();
  known.set(code, unit);
  return unit;
}

/** The library would trim blanks, and it throws for some texts that are no units. */
function lookUp(code: string): CanonicalUnit | undefined {
  if (!/^[!-~]{1,100}$/.test(code)) return undefined;
  try {
    return read(code);
  } catch {
    return undefined;
  }
}

function read(code: string): CanonicalUnit | undefined {
  // Loaded with the first unit: it takes a tenth of a second.
  library ??= createRequire(import.meta.url)('@lhncbc/ucum-lhc') as typeof import('@lhncbc/ucum-lhc');
  const { status, unit } = library.UcumLhcUtils.getInstance().getSpecifiedUnit(code, 'validate');
  const exponents = unit?.dim_?.dimVec_;
  if (status !== 'valid' || unit === undefined || unit === null || !Array.isArray(exponents))
    return undefined;
  const offset = unit.cnv_ === null ? NONE : OFFSETS[unit.cnv_];
  if (offset === undefined || unit.cnvPfx_ !== 1) return undefined;
  // 15 digits leave out what binary fractions added: 0.025400000000000002 m are 0.0254.
  const factor = decimalOf(String(Number(unit.magnitude_.toPrecision(15))));
  const exact = String(factor.digits).replace(/0+$/, '').length <= SIGNIFICANT;
  const arbitrary = unit.isArbitrary_ ? arbitraryUnits(code) : '';
  return { dimension: exponents.join() + arbitrary, factor, offset, exact };
}

/** Arbitrary units compare with themselves alone: the names between brackets, `[IU]` as `[iU]`. */
function arbitraryUnits(code: string): string {
  return (code.match(/\[[^\]]*\]/g) ?? []).map((name) => ` ${name.replace('[IU]', '[iU]')}`).join('');
}
