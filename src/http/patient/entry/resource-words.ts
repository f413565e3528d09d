/** Writes FHIR content in words for people, for the value of any element. Pure. */

import type { WordLanguage } from '#src/clinical/reading/names/code-words.ts';
import { decimalText } from '#src/clinical/reading/numbers/decimal.ts';
import {
  type NumberStyle,
  quantityText,
  rangeText,
  ratioText,
} from '#src/clinical/reading/numbers/quantity.ts';
import { findPressure, type Pressure, systolicFirst } from '#src/clinical/reading/pressure.ts';
import { loincCodes } from '#src/fhir/parts.ts';
import { cut } from '#src/shared/cut.ts';
import { type Html, html } from '#src/shared/html.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { conceptWords } from '../../reading/resource-title.ts';

/** Characters that have named entities in XML. */
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
};

/** Returns a narrative's text (XHTML) without its tags. */
export function wordsOfNarrative(div: string): string {
  return div
    .replace(/<[^>]*>/g, ' ')
    .replace(/&([a-z]+);/g, (whole, name: string) => ENTITIES[name] ?? whole)
    .replace(/\s+/g, ' ')
    .trim();
}

/** How a language writes the parts of a value. */
export interface ValueWords {
  readonly lang: WordLanguage;
  /** The separator between two parts: a comma and a space. */
  readonly separator: string;
  /** Returns the name of a part. If undefined, the part has no name, and only its value is shown. */
  readonly label: (name: string) => string | undefined;
  /**
   * Returns text from the record in words, such as a date or a status code.
   * @param name the name of its element
   */
  readonly text: (text: string, name: string) => string;
  /**
   * Returns the word for a CodeableConcept's code; undefined if it has none.
   * @param name the name of its element
   */
  readonly concept: (value: JsonObject, name: string) => string | undefined;
  /**
   * Returns an age in words; undefined for an element that isn't an age.
   * @param name the name of its element
   */
  readonly age: (value: JsonObject, name: string) => string | undefined;
  /** Returns doses in words. */
  readonly dose: (value: Json) => string | undefined;
  /** Returns a number in the language's notation, with all its digits. */
  readonly number: (literal: string) => string;
  readonly truth: (is: boolean) => string;
  /** Returns the name of a reference's target; undefined if it is unknown. */
  readonly reference: (reference: string) => string | undefined;
  /** Returns the text that says how many more items there are. */
  readonly more: (count: number) => string;
}

/** Maximum length of a text, and of a list, on a page. The page links to the full content. */
const MOST_CHARACTERS = 2_000;
const MOST_PARTS = 100;

/** Members that only say where a value comes from, and nothing about the value itself. */
const UNSAID: readonly string[] = ['system', 'id', 'reference', 'userSelected', 'version'];

/**
 * Returns an element's value in words. Each text from the record has its own writing direction. Everything else is in the
 * page's details.
 * @param name the element's name
 */
export function wordsOfValue(value: Json, name: string, words: ValueWords): Html {
  if (value === null) return html`–`;
  const dose = name === 'dosage' || name === 'dosageInstruction' ? words.dose(value) : undefined;
  if (dose !== undefined) return isolated(dose);
  if (Array.isArray(value)) {
    const parts = name === 'component' ? systolicFirst(value, readPressure) : value;
    return joined(parts, (each) => wordsOfPart(each, name, words), words);
  }
  if (typeof value === 'string') return isolated(words.text(value, name));
  if (typeof value === 'boolean') return isolated(words.truth(value));
  if (!isObject(value)) return isolated(words.number(decimalText(value) ?? String(value)));
  if (typeof value.div === 'string') return isolated(wordsOfNarrative(value.div));
  const referred = typeof value.reference === 'string' ? words.reference(value.reference) : undefined;
  if (referred !== undefined) return isolated(referred);
  const word = words.concept(value, name) ?? words.age(value, name);
  if (word !== undefined) return isolated(word);
  const said = conceptWords(value);
  if (said !== undefined && value.value === undefined) return isolated(words.text(said, name));
  // Numbers are shown with all their digits here, although lists round them.
  const style = { lang: words.lang, exact: true };
  const amount =
    quantityText(value, {}, style) ?? (isRatio(value) ? ratioText(value, style) : rangeOnly(value, style));
  if (amount !== undefined) return isolated(amount);
  const members = Object.entries(value).filter(([name]) => !UNSAID.includes(name));
  return joined(
    members.length === 0 ? Object.entries(value) : members,
    ([member, each]) => {
      const label = words.label(member);
      const part = wordsOfValue(each, member, words);
      return label === undefined ? part : html`${label}: ${part}`;
    },
    words,
  );
}

const readPressure = (part: Json): Pressure | undefined =>
  findPressure(loincCodes(isObject(part) ? part.code : undefined));

/** Returns one of several values, such as the systolic blood pressure, with its name in front. */
function wordsOfPart(value: Json, of: string, words: ValueWords): Html {
  if (!isObject(value)) return wordsOfValue(value, of, words);
  const { code, ...others } = value;
  const [only, ...more] = Object.entries(others).filter(([name]) => !UNSAID.includes(name));
  const name = code === undefined ? undefined : conceptWords(code);
  if (name === undefined || only === undefined) return wordsOfValue(value, of, words);
  const isValue = more.length === 0 && only[0].startsWith('value');
  return html`${isolated(name)}: ${isValue ? wordsOfValue(only[1], only[0], words) : wordsOfValue(others, of, words)}`;
}

const isRatio = ({ numerator, denominator }: JsonObject): boolean =>
  isObject(numerator) && isObject(denominator);

/** Returns a Range in words; undefined if the value contains more than a Range, such as a reference range with an age. */
function rangeOnly(value: JsonObject, style: NumberStyle): string | undefined {
  return Object.keys(value).every((name) => name === 'low' || name === 'high')
    ? rangeText(value, style)
    : undefined;
}

function joined<T>(
  parts: readonly T[],
  renderPart: (part: T) => Html,
  { separator, more }: ValueWords,
): Html {
  const left = parts.length - MOST_PARTS;
  return html`${parts
    .slice(0, MOST_PARTS)
    .map(
      (part, i) => html`${i === 0 ? '' : separator}${renderPart(part)}`,
    )}${left > 0 ? html` <span class="quiet">${more(left)}</span>` : html``}`;
}

/** Returns text isolated so that its writing direction doesn't affect the text around it. */
function isolated(text: string): Html {
  return html`<bdi>${text.length > MOST_CHARACTERS ? `${cut(text, MOST_CHARACTERS)} …` : text}</bdi>`;
}
