/**
 * Reads when a problem or an allergy began or ended: a day, an age, or the record's own words. Also used in the scripts of
 * pages. Pure. https://hl7.org/fhir/R4/condition-definitions.html#Condition.onset_x_
 */
import { first, text } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import { word } from './doses/dose-words.ts';
import type { WordLanguage } from './names/code-words.ts';
import { decimalText } from './numbers/decimal.ts';
import { quantityText, rangeText, unitText } from './numbers/quantity.ts';

/** An age, or a range of ages that may be open at one end; the unit is a UCUM code. */
export interface Age {
  readonly from?: number;
  readonly to?: number;
  readonly unit: string;
  /** For a single age: `<`, `≤`, `≥` or `>`. */
  readonly sign?: string;
}

/** When something began or ended. A date is a FHIR date with its own precision. */
export type Change = { readonly date: string } | { readonly age: Age } | { readonly words: string };

/**
 * Returns when something began (`onset`) or ended (`abatement`). For a Period, an onset is its start, and an abatement is its
 * last day.
 */
export function readChange(value: JsonObject, name: 'onset' | 'abatement'): Change | undefined {
  const { start, end } = first(value[`${name}Period`]) ?? {};
  const ends = name === 'onset' ? [start, end] : [end, start];
  const date = [value[`${name}DateTime`], ...ends].map(text).find((each) => each !== undefined);
  if (date !== undefined) return { date };
  const age = ageIn(value, name);
  if (age !== undefined) return { age };
  const words =
    text(value[`${name}String`]) ??
    rangeText(first(value[`${name}Range`])) ??
    quantityText(first(value[`${name}Age`]));
  return words === undefined ? undefined : { words };
}

/**
 * Returns the age in an element that is an Age or a Range of ages (`onsetAge`, `performedRange`); undefined if there is none.
 */
export function ageIn(value: JsonObject, name: string): Age | undefined {
  return readAge(first(value[`${name}Age`]) ?? first(value[`${name}Range`]) ?? {});
}

/** Returns an age, given as an Age or as a Range of ages; undefined if it has no numbers in a known form. */
export function readAge(own: JsonObject): Age | undefined {
  if (own.low !== undefined || own.high !== undefined) return readRange(own.low, own.high);
  const [years, unit, comparator] = [decimalText(own.value), readUnit(own), text(own.comparator)];
  if (years === undefined || unit === undefined) return undefined;
  const sign = comparator === undefined ? undefined : (SIGNS[comparator] ?? comparator);
  return {
    ...{ from: Number(years), to: Number(years), unit },
    ...(sign === undefined ? {} : { sign }),
  };
}

/** Quantity comparators whose printed sign is different. */
const SIGNS: Readonly<Record<string, string>> = { '<=': '≤', '>=': '≥' };

function readRange(low: Json | undefined, high: Json | undefined): Age | undefined {
  const ends = [low, high].map((end) => first(end));
  const there = ends.filter((end) => end !== undefined);
  const [unit, other = unit] = there.map(readUnit);
  const numbers = ends.map((end) => decimalText(end?.value));
  const isPlain = there.every((end) => decimalText(end.value) !== undefined && end.comparator === undefined);
  if (unit === undefined || unit !== other || !isPlain) return undefined;
  const [from, to] = numbers;
  return {
    ...(from === undefined ? {} : { from: Number(from) }),
    ...(to === undefined ? {} : { to: Number(to) }),
    unit,
  };
}

function readUnit({ code, unit }: JsonObject): string | undefined {
  return text(code) ?? text(unit);
}

/** Units of age that each language has words for. */
const UNITS: Readonly<Record<string, string>> = { a: 'year', mo: 'month', wk: 'week', d: 'day', h: 'hour' };

/** Returns an age in words: `40 years`, `40–50 years`, `at least 40 years`, `up to 50 years`. */
export function ageText(lang: WordLanguage, age: Age): string {
  const { from, to, sign = '' } = age;
  const write = formatIn(lang, age);
  if (from !== undefined && to !== undefined) return `${sign}${write(from, to)}`;
  if (from !== undefined) return word({ lang }, 'atleast', { from: write(from) });
  return to === undefined ? '' : word({ lang }, 'upto', { to: write(to) });
}

/** Returns at what age something was done, in English: `at age 40 years`, `from age 40 years`, `up to age 50 years`. */
export function atAge(age: Age): string {
  const { from, to, sign = '' } = age;
  const write = formatIn('en', age);
  if (from !== undefined && to !== undefined) return `at age ${sign}${write(from, to)}`;
  return from === undefined ? `up to age ${write(to ?? 0)}` : `from age ${write(from)}`;
}

/** Returns a function that writes one number, or a range from one number to another, with an age's unit. */
function formatIn(lang: WordLanguage, { unit }: Age): (from: number, to?: number) => string {
  const known = UNITS[unit];
  const format = new Intl.NumberFormat(
    lang,
    known === undefined ? {} : { style: 'unit', unit: known, unitDisplay: 'long' },
  );
  return (from, to = from) => {
    const said = from === to ? format.format(from) : format.formatRange(from, to);
    return known === undefined ? `${said} ${unitText(unit)}`.trim() : said;
  };
}
