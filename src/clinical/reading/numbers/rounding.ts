/**
 * Rounds values for reading, as laboratories and guidelines give them (`rounding-rules.ts`). The record keeps its digits.
 * Pure.
 */
import { compareDecimals, countPlaces, placesFor, plainDecimal, roundDecimal } from './decimal.ts';
import { type RoundingRule, RULES_BY_CODE, RULES_BY_UNIT } from './rounding-rules.ts';
import { unitText } from './unit.ts';

/** The measurement that a value belongs to. */
export interface Measured {
  /** LOINC codes of the measurement. */
  readonly codes?: readonly string[];
  /** The unit, in UCUM or as people write it. */
  readonly unit?: string | undefined;
  /** Ends of its reference range, as stored: a value isn't rounded across them. */
  readonly limits?: readonly string[];
}

/** Digits behind the point above which a value without a rule has noise, and how many significant ones are left then. */
const NOISE = 4;
/** Significant digits that a rule leaves in any case: a value never becomes zero. */
const SIGNIFICANT = 2;

const BY_CODE: ReadonlyMap<string, RoundingRule> = new Map(
  RULES_BY_CODE.flatMap((rule) => rule.codes.split(' ').map((code): [string, RoundingRule] => [code, rule])),
);

const BY_UNIT: ReadonlyMap<string, Omit<RoundingRule, 'codes' | 'limits'>> = new Map(
  [...RULES_BY_UNIT]
    .reverse()
    .flatMap((rule) =>
      Object.keys(rule.places).map((unit): [string, Omit<RoundingRule, 'codes' | 'limits'>] => [unit, rule]),
    ),
);

/**
 * Rounds the literal of a decimal. It gets no digits that it doesn't have, doesn't become zero, and stays on its side of
 * each limit of its reference range and of decisions.
 */
export function roundForReading(literal: string, measured: Measured, measuredIn = measured.unit): string {
  const stored = plainDecimal(literal);
  if (!stored.includes('.') || /[eE]/.test(stored)) return stored;
  const unit = unitText(measuredIn ?? '');
  let byCode: RoundingRule | undefined;
  for (const code of measured.codes ?? []) {
    const found = BY_CODE.get(code);
    if (found === undefined || !Object.hasOwn(found.places, unit)) continue;
    byCode = found;
    break;
  }
  const rule = byCode ?? BY_UNIT.get(unit);
  const least = countDecimals(stored, rule, unit);
  const { places: most } = countPlaces(stored);
  if (least >= most) return stored;
  const limits = [...(measured.limits ?? []), ...(byCode?.limits?.[unit] ?? []).map(String)];
  for (let places = least; places < most; places += 1) {
    const rounded = roundDecimal(stored, places);
    const isSameSide = limits.every(
      (limit) => compareDecimals(stored, limit) === compareDecimals(rounded, limit),
    );
    if (isSameSide && /[1-9]/.test(rounded)) return rounded;
  }
  return stored;
}

function countDecimals(
  stored: string,
  rule: Pick<RoundingRule, 'places' | 'significant'> | undefined,
  unit: string,
): number {
  if (rule !== undefined)
    return Math.max(rule.places[unit] ?? 0, placesFor(stored, rule.significant ?? SIGNIFICANT));
  const { places, significant } = countPlaces(stored);
  return significant > NOISE ? placesFor(stored, NOISE) : places;
}
