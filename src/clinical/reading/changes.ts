/**
 * When a problem or an allergy began or ended: a day, an age, or the words that the record has instead. Also for scripts of a
 * page. Pure. https://hl7.org/fhir/R4/condition-definitions.html#Condition.onset_x_
 */
import { first, text } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { decimalText } from './numbers/decimal.ts';
import { rangeText, unitText } from './numbers/quantity.ts';

/** An age, or a range of ages; the unit is a code of UCUM. */
export interface Age {
  readonly from: number;
  readonly to: number;
  readonly unit: string;
}

/** When something began or ended. A date is one of FHIR, as exact as it is. */
export type Change = { readonly date: string } | { readonly age: Age } | { readonly words: string };

/** Returns when something began (`onset`) or ended (`abatement`); of a Period, its start, or of an end its last day. */
export function readChange(value: JsonObject, name: 'onset' | 'abatement'): Change | undefined {
  const { start, end } = first(value[`${name}Period`]) ?? {};
  const ends = name === 'onset' ? [start, end] : [end, start];
  const date = [value[`${name}DateTime`], ...ends].map(text).find((each) => each !== undefined);
  if (date !== undefined) return { date };
  const { low, high } = first(value[`${name}Range`]) ?? {};
  const age = readAge(value[`${name}Age`]) ?? readAge(low, high);
  if (age !== undefined) return { age };
  const words = text(value[`${name}String`]) ?? rangeText(first(value[`${name}Range`]));
  return words === undefined ? undefined : { words };
}

function readAge(low: Json | undefined, high: Json | undefined = low): Age | undefined {
  const [from, to] = [first(low), first(high)];
  const [least, most] = [decimalText(from?.value), decimalText(to?.value)];
  const unit = text(from?.code) ?? text(from?.unit);
  const same = text(to?.code) ?? text(to?.unit);
  if (least === undefined || most === undefined || unit === undefined || unit !== same) return undefined;
  return from?.comparator === undefined ? { from: Number(least), to: Number(most), unit } : undefined;
}

/** Units of ages that languages have words for. */
const UNITS: Readonly<Record<string, string>> = { a: 'year', mo: 'month', wk: 'week', d: 'day', h: 'hour' };

/** Returns an age in words: `40 years`, `40–50 years`. */
export function ageText(lang: string, { from, to, unit }: Age): string {
  const known = UNITS[unit];
  const format = new Intl.NumberFormat(
    lang,
    known === undefined ? {} : { style: 'unit', unit: known, unitDisplay: 'long' },
  );
  const said = from === to ? format.format(from) : format.formatRange(from, to);
  return known === undefined ? `${said} ${unitText(unit)}`.trim() : said;
}
