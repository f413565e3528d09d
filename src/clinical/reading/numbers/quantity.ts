/** Quantities, ranges, ratios and titres as people write them; the record keeps the stored values. Pure. */

import { listItems, readMembers, readText } from '../fields.ts';
import { decimalText, formatDecimal } from './decimal.ts';
import { type Measured, roundForReading } from './rounding.ts';
import { isUnsaid, unitText } from './unit.ts';

/** How numbers are written. */
export interface NumberStyle {
  /** The language whose separators they have; digits with a point without it. */
  readonly lang?: string | undefined;
  /** Between number and unit; a blank by default. */
  readonly space?: string;
  /** True if all stored digits are written, as for doses and ends of ranges. */
  readonly exact?: boolean;
}

const LOINC = 'http://loinc.org';
const COMPARATORS: Readonly<Record<string, string>> = { '<': '<', '<=': '≤', '>=': '≥', '>': '>', ad: '≥' };

/** Returns the measurement of an Observation or component: its LOINC codes, and the ends of its reference ranges. */
export function readMeasured(holder: unknown): Measured {
  const { code, referenceRange } = readMembers(holder);
  const codes: string[] = [];
  for (const coding of listItems(readMembers(code).coding)) {
    const { system, code: own } = readMembers(coding);
    if (system === LOINC && typeof own === 'string') codes.push(own);
  }
  return {
    codes,
    // Read only if the value is rounded.
    get limits() {
      return listItems(referenceRange).flatMap((range) => {
        const { low, high } = readMembers(range);
        return [low, high].flatMap((end) => decimalText(readMembers(end).value) ?? []);
      });
    },
  };
}

/** Returns the unit of a Quantity as people write it; the author's text goes before the code. */
export function unitOfQuantity(quantity: unknown): string {
  const { unit, code } = readMembers(quantity);
  const [own, coded] = [readText(unit), readText(code)];
  return coded !== undefined && coded !== '1' && isUnsaid(coded) ? '' : unitText(own ?? coded ?? '');
}

/** Returns a number with its comparator, rounded for reading unless that moves a limit (`<0.034`). */
function numberText(
  quantity: unknown,
  measured: Measured,
  { lang, exact = false }: NumberStyle,
): string | undefined {
  const { value, comparator, unit, code } = readMembers(quantity);
  const literal = decimalText(value);
  if (literal === undefined) return undefined;
  const sign = readText(comparator);
  const shown =
    sign === undefined && !exact && /[.eE]/.test(literal)
      ? roundForReading(literal, measured, readText(code) ?? readText(unit))
      : literal;
  return `${sign === undefined ? '' : (COMPARATORS[sign] ?? sign)}${formatDecimal(shown, lang)}`;
}

/** Returns a Quantity with its unit; a titre as 1:128. Undefined without a number. */
export function quantityText(
  quantity: unknown,
  measured: Measured = {},
  style: NumberStyle = {},
): string | undefined {
  const number = numberText(quantity, measured, style);
  if (number === undefined) return undefined;
  const { unit, code } = readMembers(quantity);
  const isTitre = [code, unit].some((each) => typeof each === 'string' && TITRE.test(each));
  if (isTitre) {
    const [, sign = '', digits = ''] = /^([<>≤≥]?)(.*)$/.exec(number) ?? [];
    if (/^\d/.test(digits)) return digits.startsWith('0') ? number : `${sign}1:${digits}`;
  }
  return joinUnit(number, unitOfQuantity(quantity), style);
}

const TITRE = /^\{?(?:titer|titre)s?\}?$/i;

/** Joins a number and its unit. */
export function joinUnit(number: string, unit: string, { space = ' ' }: NumberStyle = {}): string {
  return unit === '' ? number : `${number}${space}${unit}`;
}

/** Returns a Range as `4 – 6 mmol/L`; with one end `≥ 4 mmol/L` or `≤ 6 mmol/L`. Its ends keep their digits. */
export function rangeText(range: unknown, style: NumberStyle = {}): string | undefined {
  const { low, high } = readMembers(range);
  const [from, to] = [boundText(low, style), boundText(high, style)];
  if (from !== undefined && to !== undefined) {
    const unit = unitOfQuantity(low);
    const isShared = unit === unitOfQuantity(high) || decimalText(readMembers(low).value) === undefined;
    const first = isShared ? numberText(low, {}, { ...style, exact: true }) : from;
    return `${first ?? from} – ${to}`;
  }
  if (from !== undefined) return `≥ ${from}`;
  return to === undefined ? undefined : `≤ ${to}`;
}

const boundText = (end: unknown, style: NumberStyle): string | undefined =>
  quantityText(end, {}, { ...style, exact: true });

/** Returns a Ratio: a titre as 1:128, amounts as `5 mg / 10 mL`, an amount for each unit as `5 mg/mL`. */
export function ratioText(ratio: unknown, style: NumberStyle = {}): string | undefined {
  const { numerator, denominator } = readMembers(ratio);
  const [of, by] = [numerator, denominator].map((part) => quantityText(part, {}, style));
  if (of === undefined || by === undefined) return of ?? by;
  const units = [unitOfQuantity(numerator), unitOfQuantity(denominator)];
  if (units.every((unit) => unit === '')) return `${of}:${by}`;
  const { value, comparator } = readMembers(denominator);
  if (decimalText(value) === '1' && comparator === undefined && units[1] !== '') return `${of}/${units[1]}`;
  return `${of} / ${by}`;
}

/** The components of a blood pressure. */
export interface BloodPressure {
  readonly systolic: unknown;
  readonly diastolic: unknown;
}

/** Returns a blood pressure in its usual form, `128/82 mmHg`; undefined unless both have a number in the same unit. */
export function pressureText(
  { systolic, diastolic }: BloodPressure,
  style: NumberStyle = {},
): string | undefined {
  const [high, low] = [systolic, diastolic].map((part) =>
    numberText(readMembers(part).valueQuantity, readMeasured(part), style),
  );
  const [unit, other] = [systolic, diastolic].map((part) => unitOfQuantity(readMembers(part).valueQuantity));
  if (high === undefined || low === undefined || unit === undefined || unit !== other) return undefined;
  return joinUnit(`${high}/${low}`, unit, style);
}
