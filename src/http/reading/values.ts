/** Writes a record's values in words and numbers, as in the clinical reading. The entry's page shows all their digits. */
import { formatDecimal } from '#src/clinical/reading/numbers/decimal.ts';
import {
  type Measured,
  pressureText,
  quantityText,
  readingText,
} from '#src/clinical/reading/numbers/quantity.ts';
import { findPressure, systolicFirst } from '#src/clinical/reading/pressure.ts';
import { resultName } from '../pages/result-names.ts';
import type { Texts } from '../pages/texts.ts';
import { dateText } from './day-text.ts';
import { splitBounded } from './judgement.ts';
import type { Observation, Valued } from './measures.ts';

/** The parts of a value that the clinical reading needs. */
type Coded = Pick<Observation, 'system' | 'code'>;
/** A reference range, if there is one. */
export type Ranged = { readonly reference_range?: Observation['reference_range'] | undefined };

/** A non-breaking space between a number and its unit. */
const SPACE = '\u00a0';

/** Returns what determines how a value is rounded: its code, its unit, and the ends of its reference range. */
export function toMeasured({
  system,
  code,
  unit,
  reference_range,
}: Coded & Ranged & Pick<Valued, 'unit'>): Measured {
  const { low = null, high = null } = reference_range ?? {};
  return {
    codes: code !== null && (system === null || system === 'http://loinc.org') ? [code] : [],
    unit: unit ?? '',
    limits: [low, high].filter((end) => end !== null),
  };
}

/** Returns a number rounded for reading, without its unit. */
export function numberText({ lang }: Texts, literal: string, measured: Measured): string {
  return readingText(literal, measured, lang);
}

/** A value in words: a text, or the texts of its parts. */
export type ValueWords =
  | { readonly kind: 'number' | 'words' | 'truth' | 'none'; readonly text: string }
  | {
      readonly kind: 'parts';
      readonly parts: readonly { readonly name: string; readonly value: ValueWords }[];
    };

/** An observation's value, with everything needed to write it. */
export type ShownValue = Valued & Coded & Ranged & Partial<Pick<Observation, 'components'>>;

/** Returns a value with its unit in words. */
export function wordValue(say: Texts, each: ShownValue): ValueWords {
  const { value, unit, value_text, value_code, value_boolean, components = [] } = each;
  const style = { lang: say.lang, space: SPACE };
  const number = (text: string): ValueWords => ({ kind: 'number', text });
  const words = (text: string): ValueWords => ({ kind: 'words', text });
  if (value !== null) return number(quantityText({ value, unit }, toMeasured(each), style) ?? '');
  if (value_code !== null) return words(value_code.display ?? value_code.code ?? '');
  const bounded = splitBounded(value_text);
  if (bounded !== undefined) {
    const { sign, number: literal, unit: own } = bounded;
    return number(quantityText({ value: literal, comparator: sign, unit: own }, {}, style) ?? '');
  }
  if (value_text !== null) return words(value_text);
  if (value_boolean !== null)
    return { kind: 'truth', text: say(value_boolean ? 'results.yes' : 'results.no') };
  if (components.length === 0) return { kind: 'none', text: say('results.novalue') };
  const pressure = pressureIn(say, components);
  if (pressure !== undefined) return number(pressure);
  const ordered = systolicFirst(components, ({ code }) => findPressure(code === null ? [] : [code]));
  return {
    kind: 'parts',
    parts: ordered.map((part) => ({ name: resultName(say, part), value: wordValue(say, part) })),
  };
}

/** Returns a value with its unit as a single text. */
export function valueText(say: Texts, each: ShownValue): string {
  const join = (value: ValueWords): string =>
    value.kind === 'parts'
      ? value.parts.map(({ name, value: own }) => `${name}: ${join(own)}`).join(`${say('shl.comma')} `)
      : value.text;
  return join(wordValue(say, each));
}

/** Returns a blood pressure in its usual form; undefined for any other components. The codes are LOINC's. */
export function pressureIn({ lang }: Texts, components: Observation['components']): string | undefined {
  const parts = components.map(({ code, value, unit }) => ({
    code: { coding: [{ system: 'http://loinc.org', code }] },
    valueQuantity: { value, unit },
  }));
  return pressureText(parts, { lang, space: SPACE });
}

/** Returns a reference range without its unit. Its ends keep all their digits. */
export function rangeText(
  { lang }: Texts,
  { low, high }: { readonly low: string | null; readonly high: string | null },
): string {
  const [from, to] = [low, high].map((end) => (end === null ? undefined : formatDecimal(end, lang)));
  return from === undefined ? `≤ ${to ?? ''}` : to === undefined ? `≥ ${from}` : `${from} – ${to}`;
}

/** Returns the other values from the same time in words, each with its unit; undefined if there are none. */
export function besideText(say: Texts, beside: readonly ShownValue[]): string | undefined {
  if (beside.length === 0) return undefined;
  return say('known.beside', { values: say.list(beside.map((each) => valueText(say, each))) });
}

/** Returns the day of a value; if it has none, when the value was reported or, if that is unknown too, entered. */
export function whenMeasured(say: Texts, { effective_at, reported, created_at }: Observation): string {
  if (effective_at !== null) return dateText(say, effective_at);
  return reported === undefined
    ? say('known.nodate', { day: say.day(Date.parse(created_at)) })
    : say('known.reported', { day: dateText(say, reported) });
}
