/**
 * Compares the dimensions of units. In doubt, two units are treated as comparable, because a warning must be right, and
 * laboratories report the same quantity by mass, by amount of substance, in arbitrary units or per collection.
 */
import { canonicalRange } from '../fhir/units/canonical.ts';

/** Exponents of UCUM's base units: metre, second, gram, radian, kelvin, coulomb, candela. */
type Exponents = readonly number[];
const [LENGTH, TIME, MASS] = [0, 1, 2];

/** Bracketed units that are physical. Arbitrary units in brackets (`[IU]`, `[HPF]`) have no comparable dimension. */
const PHYSICAL = /m\[Hg\]|m\[H2O\]|\[(?:lb_av|oz_av|in_i|ft_i|degF|Cal)\]/g;
/** Mass per volume, which some laboratories report as a percentage: g% and MCHC in %. */
const MASS_PER_VOLUME = /^[munp]?g\/[dm]?L$/;
/** An annotation in place of a denominator: `mL/min/{1.73_m2}`, `mg/{24_h}`. */
const ANNOTATED = /\/\{/;

/**
 * Returns whether two units can measure the same quantity; true if in doubt.
 * @param inLaboratory whether it is a laboratory's quantity: mass is then comparable with amount of substance and with
 * arbitrary units
 */
export function areComparable(a: string, b: string, inLaboratory: boolean): boolean {
  if (a === b) return true;
  if (inLaboratory && [a, b].some((unit) => ANNOTATED.test(unit) || isArbitrary(unit))) return true;
  if (inLaboratory && [a, b].includes('%') && [a, b].some((unit) => MASS_PER_VOLUME.test(unit))) return true;
  const [first, second] = [readExponents(a), readExponents(b)];
  if (first === undefined || second === undefined) return true;
  return inLaboratory ? agree(withoutMass(first), withoutMass(second)) : agree(first, second);
}

function isArbitrary(unit: string): boolean {
  return unit.replaceAll(PHYSICAL, '').includes('[');
}

function readExponents(unit: string): Exponents | undefined {
  const [exponents] = canonicalRange(unit, '1', '1')?.dimension.split(' ') ?? [];
  return exponents?.split(',').map(Number);
}

/**
 * Returns the exponents without the one for mass, which may also be reported as an amount of substance. A kilogram in the
 * denominator is treated as a litre.
 */
function withoutMass(exponents: Exponents): Exponents {
  const mass = exponents[MASS] ?? 0;
  const length = (exponents[LENGTH] ?? 0) + (mass < 0 ? 3 * mass : 0);
  return exponents.map((each, at) => (at === MASS ? 0 : at === LENGTH ? length : each));
}

/**
 * Compares exponents except the one for time, because an amount per day is often reported without the day, and a rate by its
 * period.
 */
function agree(a: Exponents, b: Exponents): boolean {
  return a.every((each, at) => each === b[at] || at === TIME);
}
