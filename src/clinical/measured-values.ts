/**
 * Judges measured values: by LOINC's unit for the code, by the range that is possible in a living person, and, for diastolic
 * pressure, by the systolic pressure.
 */
import type { Implausible } from '#src/shared/implausible.ts';
import { isNumber, isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { UCUM } from '../fhir/units/canonical.ts';
import { isUcum, toUcum } from '../fhir/units/spelled-units.ts';
import { findConverter } from '../insight/units.ts';
import { areComparable } from './comparable-units.ts';
import { type PossibleRange, readPossibleRanges } from './possible-ranges.ts';
import { unitText } from './reading/numbers/quantity.ts';

/** The terminology's data on a LOINC code. */
interface MeasuredCode {
  /** The code's unit in UCUM; null if it has none. */
  readonly unit: string | null;
  readonly isLaboratory: boolean;
  /** The molar mass of the measured substance in g/mol, if it has one. */
  readonly molarMass: number | undefined;
}

/** Returns what is known about a LOINC code; undefined for an unknown code. */
export type FindMeasuredCode = (code: string) => MeasuredCode | undefined;

/** Judges the `valueQuantity` of an Observation or component; undefined if nothing is wrong, or if the code isn't known. */
export type JudgeValue = (holder: JsonObject, path: string) => Implausible | undefined;

/** The rules for judging the values of a code in a given unit. */
type Limits =
  | { readonly mismatch: string }
  | { readonly low: number; readonly high: number; readonly range: PossibleRange };

const LOINC = 'http://loinc.org';
/** Maximum number of cached pairs of code and unit: a few hundred are in use, but clients may invent any number. */
const REMEMBERED = 5_000;
/** Matches a unit that is only an annotation. */
const ANNOTATION = /^\{([^{}]+)\}$/;
/** Relative error of converted bounds, which have twelve digits. */
const ROUNDING = 1e-9;

/** Returns the function that judges values. The rules for a code in a given unit are computed once. */
export function openJudgement(find: FindMeasuredCode): JudgeValue {
  const ranges = new Map<string, PossibleRange[]>();
  for (const range of readPossibleRanges())
    for (const code of range.codes) ranges.set(code, [...(ranges.get(code) ?? []), range]);
  const known = new Map<string, Limits | undefined>();
  const findLimits = (code: string, unit: string): Limits | undefined => {
    const key = `${code} ${unit}`;
    const before = known.get(key);
    if (before !== undefined || known.has(key)) return before;
    if (known.size >= REMEMBERED) known.clear();
    const limits = computeLimits(code, unit, find(code), ranges.get(code));
    known.set(key, limits);
    return limits;
  };
  return (holder, path) => {
    const codes = listLoincCodes(holder.code);
    const measured = codes.length === 0 ? undefined : readMeasured(holder);
    if (measured === undefined) return undefined;
    let first: Implausible | undefined;
    for (const code of codes) {
      const limits = findLimits(code, measured.unit);
      if (limits === undefined) continue;
      const fault = judge(limits, measured, `${path}.valueQuantity`);
      // A value is plausible if it fits any of its codes.
      if (fault === undefined) return undefined;
      first ??= fault;
    }
    return first;
  };
}

/** Returns the LOINC codes in a concept. */
function listLoincCodes(concept: Json | undefined): string[] {
  if (!isObject(concept) || !Array.isArray(concept.coding)) return [];
  return concept.coding.flatMap((coding) =>
    isObject(coding) && coding.system === LOINC && typeof coding.code === 'string' ? [coding.code] : [],
  );
}

/** A number with a UCUM unit. */
interface Measured {
  readonly value: number;
  readonly comparator: Json | undefined;
  readonly unit: string;
}

/** Returns the `valueQuantity` of an Observation or component; undefined if it has no number, or its unit isn't certain. */
function readMeasured({ valueQuantity: quantity }: JsonObject): Measured | undefined {
  if (!isObject(quantity) || !isNumber(quantity.value)) return undefined;
  const unit = readQuantityUnit(quantity);
  const value = typeof quantity.value === 'number' ? quantity.value : Number(String(quantity.value));
  return unit === undefined ? undefined : { value, comparator: quantity.comparator, unit };
}

/**
 * Returns a quantity's unit in UCUM; undefined if it has none, or if its text has no certain meaning. A code that isn't in
 * UCUM (`°C`, `mmHg`), or that is only an annotation (`{%}`), is treated as text.
 */
function readQuantityUnit({ system, code, unit }: JsonObject): string | undefined {
  if (typeof code === 'string') {
    if (system !== UCUM) return undefined;
    const annotation = ANNOTATION.exec(code)?.[1];
    if (annotation !== undefined) return toUcum(annotation) ?? code;
    return isUcum(code) ? code : toUcum(code);
  }
  return typeof unit === 'string' && (system === undefined || system === UCUM) ? toUcum(unit) : undefined;
}

function computeLimits(
  code: string,
  unit: string,
  known: MeasuredCode | undefined,
  ranges: readonly PossibleRange[] = [],
): Limits | undefined {
  if (known === undefined) return undefined;
  if (known.unit !== null && !areComparable(known.unit, unit, known.isLaboratory))
    return {
      mismatch: `the unit ${unit} does not fit LOINC ${code}, which is measured in ${known.unit}`,
    };
  for (const range of ranges) {
    const convert = findConverter(range.unit, unit, known.molarMass);
    if (convert !== undefined) return { low: convert(range.low), high: convert(range.high), range };
  }
  return undefined;
}

function judge(limits: Limits, { value, comparator, unit }: Measured, path: string): Implausible | undefined {
  if ('mismatch' in limits)
    return { code: 'unit_mismatch', element: `${path}.code`, message: limits.mismatch };
  const { low, high, range } = limits;
  const sign = typeof comparator === 'string' ? comparator : '';
  // `< 5` means that the value is below 5, so it is impossible only if all values below 5 are.
  const isTooLow = !sign.startsWith('>') && value < low - Math.abs(low) * ROUNDING;
  const isTooHigh = !sign.startsWith('<') && value > high + Math.abs(high) * ROUNDING;
  if (!isTooLow && !isTooHigh) return undefined;
  const said = `${sign} ${value} ${unitText(unit)}`.trim();
  const possible = range.definition === true ? 'what is possible' : 'what is possible in a living person';
  const ends = `${readable(low)} to ${readable(high)} ${unitText(unit)}`.trim();
  return { code: 'impossible_value', element: path, message: `${said} is outside ${possible} (${ends})` };
}

/** Returns a bound rounded to four digits, which is enough to see whether a value is above or below it. */
function readable(bound: number): number {
  return Number(bound.toPrecision(4));
}

/** LOINC codes for systolic and diastolic pressure: in any position, sitting, standing, supine, noninvasive. */
const PAIRS: readonly (readonly [systolic: string, diastolic: string])[] = [
  ['8480-6', '8462-4'],
  ['8459-0', '8453-3'],
  ['8460-8', '8454-1'],
  ['8461-6', '8455-8'],
  ['76534-7', '76535-4'],
];

/** Returns a fault for each diastolic pressure that is above the corresponding systolic pressure in the same unit. */
export function misorderedPressures(components: readonly Json[]): Implausible[] {
  if (components.length < 2) return [];
  const parts = components.map((part, n) => ({ part: isObject(part) ? part : {}, n }));
  const only = (code: string): { readonly part: JsonObject; readonly n: number } | undefined => {
    const [one, ...others] = parts.filter(({ part }) => listLoincCodes(part.code).includes(code));
    return others.length === 0 ? one : undefined;
  };
  return PAIRS.flatMap(([systolic, diastolic]): Implausible[] => {
    const [above, below] = [only(systolic), only(diastolic)];
    if (above === undefined || below === undefined) return [];
    const [high, low] = [readMeasured(above.part), readMeasured(below.part)];
    if (high === undefined || low === undefined || high.unit !== low.unit) return [];
    if (high.comparator !== undefined || low.comparator !== undefined || low.value <= high.value) return [];
    const unit = unitText(low.unit);
    return [
      {
        code: 'impossible_value',
        element: `Observation.component[${below.n}].valueQuantity`,
        message: `${low.value} ${unit} is above the systolic pressure (${high.value} ${unit})`,
      },
    ];
  });
}
