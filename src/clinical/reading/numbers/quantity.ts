/**
 * Writes quantities, ranges, ratios and titres for readers, with their units (https://ucum.org/ucum) and rounded as
 * laboratories and guidelines report them (`rounding-rules.ts`). The record keeps the stored values. Pure.
 */
import { listItems, readMembers, readText } from '../fields.ts';
import {
  compareDecimals,
  countPlaces,
  decimalText,
  formatDecimal,
  placesFor,
  plainDecimal,
  roundDecimal,
} from './decimal.ts';
import { type RoundingRule, RULES_BY_CODE, RULES_BY_UNIT } from './rounding-rules.ts';

/** The measurement that a value belongs to. */
export interface Measured {
  /** LOINC codes of the measurement. */
  readonly codes?: readonly string[];
  /** The unit, in UCUM or as people write it. */
  readonly unit?: string | undefined;
  /** The ends of the measurement's reference range, as stored. Rounding never moves a value across them. */
  readonly limits?: readonly string[];
}

/**
 * For values without a rule: if there are more significant digits after the decimal point than this, the excess is noise and
 * is removed.
 */
const NOISE = 4;
/** The minimum number of significant digits that a rule keeps: a value never becomes zero. */
const SIGNIFICANT = 2;

const BY_CODE: ReadonlyMap<string, RoundingRule> = new Map(
  RULES_BY_CODE.flatMap((rule) => rule.codes.split(' ').map((code): [string, RoundingRule] => [code, rule])),
);

const BY_UNIT: ReadonlyMap<string, Omit<RoundingRule, 'codes'>> = new Map(
  [...RULES_BY_UNIT]
    .reverse()
    .flatMap((rule) =>
      Object.keys(rule.places).map((unit): [string, Omit<RoundingRule, 'codes'>] => [unit, rule]),
    ),
);

/**
 * Rounds a decimal's literal. The result contains no digits that the literal doesn't have, isn't zero, and stays on the same
 * side of each limit in the reference range. For decision limits, it keeps one more digit if that is enough: 99.7 is below
 * 100, and
 * 100.002 is 100.
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
  const isSameSide = (rounded: string, limits: readonly string[]): boolean =>
    limits.every((limit) => compareDecimals(stored, limit) === compareDecimals(rounded, limit));
  const { limits: own = [] } = measured;
  const decisions = (rule?.limits?.[unit] ?? []).map(String);
  for (let places = least; places < most; places += 1) {
    const rounded = roundDecimal(stored, places);
    if (!isSameSide(rounded, own) || !/[1-9]/.test(rounded)) continue;
    if (isSameSide(rounded, decisions)) return rounded;
    const closer = roundDecimal(stored, places + 1);
    return isSameSide(closer, [...own, ...decisions]) ? closer : rounded;
  }
  return stored;
}

/** Returns the smallest number that is written for a score; smaller scores are written as less than this number. */
function findLeast({ codes = [] }: Measured): string | undefined {
  return codes.map((code) => BY_CODE.get(code)?.least).find((least) => least !== undefined);
}

/** Returns a number for readers; a score that would be rounded to zero becomes `<0.1`. */
export function readingText(
  literal: string,
  measured: Measured,
  lang?: string,
  unit = measured.unit,
): string {
  const shown = roundForReading(literal, measured, unit);
  const least = findLeast(measured);
  const isBelow = least !== undefined && compareDecimals(shown, '0') > 0 && compareDecimals(shown, least) < 0;
  const isApart = (measured.limits ?? []).every(
    (limit) => compareDecimals(limit, '0') <= 0 || compareDecimals(limit, least ?? '0') >= 0,
  );
  return isBelow && isApart ? `<${formatDecimal(least, lang)}` : formatDecimal(shown, lang);
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

/** Annotations and spellings of units that add nothing to the value's name: `{score}`, `[pH]`. */
const UNSAID =
  /^(?:1|\[?pH\]?|[{(](?:score|scores|nominal|ratio|index|INR|units?|number|n|count|#|phenotype|pH|rating|SG|\{?nominal\}?)[)}])$/i;

/** Returns whether a unit adds nothing to the value's name. */
function isUnsaid(unit: string): boolean {
  return UNSAID.test(unit);
}

/** Counted things whose names can be left out of a rate: `{beats}/min` is written as /min. */
const COUNTED = /\{(?:beats?|breaths?|heartbeats?|counts?|events?|#|score|ratio|index|INR)\}/gi;

/** Common spellings of units whose codes people wouldn't recognize. */
const WRITTEN: readonly (readonly [RegExp, string])[] = [
  [/\[degF\]/g, '°F'],
  [/\bCel\b|\bdegC\b/g, '°C'],
  [/m\[H2O\]/g, 'mH₂O'],
  [/m\[Hg\]/g, 'mHg'],
  [/\[lb_av\]/g, 'lb'],
  [/\[oz_av\]/g, 'oz'],
  [/\[in_i\]/g, 'in'],
  [/\[ft_i\]/g, 'ft'],
  [/\[HPF\]/gi, 'HPF'],
  [/\[LPF\]/gi, 'LPF'],
  [/\[drp\]/g, 'drops'],
  [/\[iU\]/gi, 'IU'],
  [/\[arb'U\]/gi, 'AU'],
  [/\[([A-Za-z]+)'U\]/g, '$1 U'],
  [/\[ppm\]|\[ppmv\]/g, 'ppm'],
  [/\bmeq\b/g, 'mEq'],
  [/\bu(?=(?:g|L|l|m|mol|kat|Ci|eq|Eq|U|V)(?:\b|\d)|IU)/g, 'µ'],
];

/** Powers of 10: 10*3 is written as 10³. */
const POWER = /10(?:\*|\^)(-?\d+)/g;
const raise = (power: string): string => power.replace(/[-\d]/g, (sign) => '⁰¹²³⁴⁵⁶⁷⁸⁹'[Number(sign)] ?? '⁻');
/** Squares and cubes of lengths: kg/m2, 1.73m2. */
const AREA = /(\d)?(?<![A-Za-z])([munpckd]?m)([23])(?![\dA-Za-z])/g;

const written = new Map<string, string>();
/** The maximum number of cached units: a few hundred are in use, but clients may invent any number. */
const REMEMBERED = 1_000;

/**
 * Returns a unit for readers. Annotations are written as words (`{copies}/mL`), or left out if they add nothing to the name
 * (`{score}`).
 */
export function unitText(code: string): string {
  const known = written.get(code);
  if (known !== undefined) return known;
  if (written.size >= REMEMBERED) written.clear();
  const text = writeUnit(code);
  written.set(code, text);
  return text;
}

/** Returns a unit as `unitText` does, with its numbers as a language writes them: mL/min/1,73 m². */
export function unitTextIn(code: string, lang: string | undefined): string {
  return numbersIn(unitText(code), lang);
}

function numbersIn(unit: string, lang: string | undefined): string {
  return lang === undefined ? unit : unit.replace(/\d+\.\d+/g, (number) => formatDecimal(number, lang));
}

function writeUnit(code: string): string {
  const unit = code.trim();
  if (isUnsaid(unit)) return '';
  const words = unit
    .replace(COUNTED, '')
    .replace(
      /([\w%\]])?\{([^{}]*)\}/g,
      (_, before: string | undefined, word: string) =>
        `${before === undefined ? '' : `${before} `}${word.replaceAll('_', ' ')}`,
    );
  const plain = words.replace(POWER, (_, power: string) => `10${raise(power)}`);
  return WRITTEN.reduce((text, [form, written]) => text.replace(form, written), plain)
    .replace(
      AREA,
      (_, number: string | undefined, length: string, power: string) =>
        `${number === undefined ? '' : `${number} `}${length}${raise(power)}`,
    )
    .trim();
}

/** How numbers are written. */
export interface NumberStyle {
  /** The language whose separators are used; if absent, digits with a decimal point. */
  readonly lang?: string | undefined;
  /** The text between number and unit; default: a space. */
  readonly space?: string;
  /** True to write all stored digits, as for doses and ends of ranges. */
  readonly exact?: boolean;
}

const LOINC = 'http://loinc.org';
const COMPARATORS: Readonly<Record<string, string>> = { '<': '<', '<=': '≤', '>=': '≥', '>': '>', ad: '≥' };

/** Returns what an Observation or component measures: its LOINC codes, and the ends of its reference ranges. */
export function readMeasured(holder: unknown): Measured {
  const { code, referenceRange } = readMembers(holder);
  const codes: string[] = [];
  for (const coding of listItems(readMembers(code).coding)) {
    const { system, code: own } = readMembers(coding);
    if (system === LOINC && typeof own === 'string') codes.push(own);
  }
  return {
    codes,
    // Evaluated only if the value is rounded.
    get limits() {
      return listItems(referenceRange).flatMap((range) => {
        const { low, high } = readMembers(range);
        return [low, high].flatMap((end) => decimalText(readMembers(end).value) ?? []);
      });
    },
  };
}

/** Returns a Quantity's unit for readers. The author's text takes precedence over the code. */
export function unitOfQuantity(quantity: unknown): string {
  const { unit, code } = readMembers(quantity);
  const [own, coded] = [readText(unit), readText(code)];
  return coded !== undefined && coded !== '1' && isUnsaid(coded) ? '' : unitText(own ?? coded ?? '');
}

/**
 * Returns a number with its comparator. The number is rounded for readers unless that would change the limit that the
 * comparator expresses (`<0.034`).
 */
function numberText(
  quantity: unknown,
  measured: Measured,
  { lang, exact = false }: NumberStyle,
): string | undefined {
  const { value, comparator, unit, code } = readMembers(quantity);
  const literal = decimalText(value);
  if (literal === undefined) return undefined;
  const sign = readText(comparator);
  if (sign === undefined && !exact && /[.eE]/.test(literal))
    return readingText(literal, measured, lang, readText(code) ?? readText(unit));
  return `${sign === undefined ? '' : (COMPARATORS[sign] ?? sign)}${formatDecimal(literal, lang)}`;
}

/** Returns a Quantity with its unit, or a titre as 1:128; undefined if it has no number. */
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
  return joinUnit(number, numbersIn(unitOfQuantity(quantity), style.lang), style);
}

const TITRE = /^\{?(?:titer|titre)s?\}?$/i;

/** Joins a number and its unit. */
export function joinUnit(number: string, unit: string, { space = ' ' }: NumberStyle = {}): string {
  return unit === '' ? number : `${number}${space}${unit}`;
}

/** Returns a Range as `4 – 6 mmol/L`; if it has only one end, as `≥ 4 mmol/L` or `≤ 6 mmol/L`. The ends aren't rounded. */
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

/** Returns a Ratio: a titre as 1:128, two amounts as `5 mg / 10 mL`, an amount per unit as `5 mg/mL`. */
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

/**
 * Returns a blood pressure in its usual form, `128/82 mmHg`; undefined unless there are exactly two components, systolic and
 * diastolic, whose numbers have the same unit.
 */
export function pressureText(components: readonly unknown[], style: NumberStyle = {}): string | undefined {
  if (components.length !== 2) return undefined;
  const parts = ['8480-6', '8462-4'].map((code) =>
    components.find((each) => readMeasured(each).codes?.includes(code)),
  );
  const [high, low] = parts.map((part) =>
    numberText(readMembers(part).valueQuantity, readMeasured(part), style),
  );
  const [unit, other] = parts.map((part) => unitOfQuantity(readMembers(part).valueQuantity));
  if (high === undefined || low === undefined || unit === undefined || unit !== other) return undefined;
  return joinUnit(`${high}/${low}`, unit, style);
}
