/** Converts between UCUM units. Pure. */
import { canonicalRange } from '../fhir/units/canonical.ts';

export type Convert = (value: number) => number;

/** Number of particles in a mole, as UCUM defines it. */
const AVOGADRO = 6.0221367e23;

/**
 * Annotations that only name what was counted. Any other annotation may change the quantity, as `{1.73_m2}` and `{creat}` do.
 */
const COUNTED = /^\{(cells?|copies|ratio|index|INR|score|titer|count|events?|beats?|breaths?|RBC|WBC)\}$/i;

/** Converts a unit's values to base units: `zero` + `one` × value. */
interface Scale {
  readonly dimension: string;
  readonly zero: number;
  readonly one: number;
}

/**
 * Returns the conversion from one unit to another; undefined if there is none. Here, amounts of substance and equivalents
 * aren't pure numbers, although UCUM treats them as such. `%` is never converted to `mmol/mol`, because they are results of
 * different methods; nor is `meq/L` to `mmol/L`, because that depends on the charge.
 * @param molarMass molar mass of the measured substance, in g/mol, for conversions between mass and amount of substance
 */
export function findConverter(
  from: string | null,
  to: string | null,
  molarMass: number | undefined,
): Convert | undefined {
  const [a, b] = [from ?? '1', to ?? '1'];
  if (a === b) return (value) => value;
  if (joinAnnotations(a) !== joinAnnotations(b)) return undefined;
  const [x, y] = [findScale(a), findScale(b)];
  if (x === undefined || y === undefined) return undefined;
  const [inMoles, toMoles] = [hasMoles(a), hasMoles(b)];
  if (inMoles === toMoles) return x.dimension === y.dimension ? between(x, y, 1) : undefined;
  // UCUM's mole is a number and its gram is a base unit, so the dimensions differ by one power of mass.
  if (molarMass === undefined || !(molarMass > 0)) return undefined;
  if (withMass(inMoles ? x : y) !== (inMoles ? y : x).dimension) return undefined;
  return between(x, y, inMoles ? molarMass / AVOGADRO : AVOGADRO / molarMass);
}

function between(x: Scale, y: Scale, factor: number): Convert {
  const convert: Convert = (value) => rounded(((x.zero + x.one * value) * factor - y.zero) / y.one);
  const isShifted = x.zero !== 0 || y.zero !== 0;
  return isShifted ? (value) => Number(convert(value).toFixed(DECIMALS_OF_SHIFTED)) : convert;
}

/**
 * Number of decimals of a temperature in kelvin with twelve digits, minus one because degrees on the other scale are smaller.
 */
const DECIMALS_OF_SHIFTED = 8;

/** Rounds to twelve digits, which removes the errors of binary fractions. */
function rounded(value: number): number {
  return Number.isFinite(value) ? Number(value.toPrecision(12)) : value;
}

function findScale(unit: string): Scale | undefined {
  // One million is used instead of 1 because canonical values on some scales have only twelve digits.
  const [nothing, one] = [canonicalRange(unit, '0', '0'), canonicalRange(unit, '1000000', '1000000')];
  if (nothing === undefined || one === undefined) return undefined;
  const zero = Number(nothing.low);
  return { dimension: one.dimension, zero, one: (Number(one.low) - zero) / 1e6 };
}

/**
 * Returns the dimension multiplied by one mass. A dimension lists the exponents of metre, second, gram and UCUM's other base
 * units, so the third is the exponent of mass.
 */
function withMass({ dimension }: Scale): string {
  const [exponents = '', ...rest] = dimension.split(' ');
  const each = exponents.split(',').map(Number);
  each[2] = (each[2] ?? 0) + 1;
  return [each.join(','), ...rest].join(' ');
}

function joinAnnotations(unit: string): string {
  return (unit.match(/\{[^}]*\}/g) ?? []).filter((each) => !COUNTED.test(each)).join();
}

const withoutAnnotations = (unit: string): string => unit.replace(/\{[^}]*\}/g, '');

/** Returns whether a unit has moles in either its numerator or its denominator, but not in both. */
function hasMoles(unit: string): boolean {
  return (withoutAnnotations(unit).match(/mol/g) ?? []).length % 2 === 1;
}
