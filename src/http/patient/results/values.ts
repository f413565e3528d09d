/** Values of a record in words and numbers, as the clinical reading writes them; their digits are on the entry's page. */
import { formatDecimal } from '#src/clinical/reading/numbers/decimal.ts';
import {
  type Measured,
  pressureText,
  quantityText,
  readingText,
} from '#src/clinical/reading/numbers/quantity.ts';
import { findPressure, systolicFirst } from '#src/clinical/reading/pressure.ts';
import { type Html, html } from '#src/shared/html.ts';
import { resultName } from '../../pages/result-names.ts';
import type { Texts } from '../../pages/texts.ts';
import { splitBounded } from './judgement.ts';
import type { Observation, Valued } from './measures.ts';

/** The parts of a value that the reading needs. */
type Coded = Pick<Observation, 'system' | 'code'>;
type Ranged = { readonly reference_range?: Observation['reference_range'] };

/** Between a number and its unit: no line ends there. */
const SPACE = '\u00a0';

/** Returns the measurement of a value, for its rounding: code, unit, ends of its reference range. */
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
    limits: [low, high].flatMap((end) => (end === null ? [] : [String(end)])),
  };
}

/** Returns a number, rounded for reading, without its unit. */
export function numberText({ lang }: Texts, value: number, measured: Measured): string {
  return readingText(String(value), measured, lang);
}

/** Returns a value with its unit, each part apart from the direction of the text around it. */
export function valueText(
  say: Texts,
  each: Valued & Coded & Ranged & Partial<Pick<Observation, 'components'>>,
): Html {
  const { value, unit, value_text, value_code, value_boolean, components = [] } = each;
  const style = { lang: say.lang, space: SPACE };
  if (value !== null) return isolated(quantityText({ value, unit }, toMeasured(each), style) ?? '');
  if (value_code !== null) return html`<bdi>${value_code.display ?? value_code.code ?? ''}</bdi>`;
  const bounded = splitBounded(value_text);
  if (bounded !== undefined) {
    const { sign, number, unit: own } = bounded;
    return isolated(quantityText({ value: number, comparator: sign, unit: own }, {}, style) ?? '');
  }
  if (value_text !== null) return html`<bdi>${value_text}</bdi>`;
  if (value_boolean !== null) return html`${say(value_boolean ? 'results.yes' : 'results.no')}`;
  if (components.length === 0) return html`<span class="quiet">${say('results.novalue')}</span>`;
  const pressure = pressureIn(say, components);
  if (pressure !== undefined) return isolated(pressure);
  const ordered = systolicFirst(components, ({ code }) => findPressure(code === null ? [] : [code]));
  return html`${ordered.map(
    (part, i) =>
      html`${i === 0 ? '' : `${say('shl.comma')} `}<bdi>${resultName(say, part)}</bdi>: ${valueText(say, part)}`,
  )}`;
}

function isolated(text: string): Html {
  return html`<bdi dir="ltr">${text}</bdi>`;
}

/** Returns a blood pressure in its usual form; undefined for other parts. The codes are LOINC's. */
export function pressureIn({ lang }: Texts, components: Observation['components']): string | undefined {
  const parts = components.map(({ code, value, unit }) => ({
    code: { coding: [{ system: 'http://loinc.org', code }] },
    valueQuantity: { value, unit },
  }));
  return pressureText(parts, { lang, space: SPACE });
}

/** Returns a reference range without its unit; its ends keep their digits. */
export function rangeText(
  { lang }: Texts,
  { low, high }: { readonly low: number | null; readonly high: number | null },
): Html {
  const [from, to] = [low, high].map((end) => (end === null ? undefined : formatDecimal(String(end), lang)));
  return isolated(from === undefined ? `≤ ${to ?? ''}` : to === undefined ? `≥ ${from}` : `${from} – ${to}`);
}
