/** Reads members of untrusted data as texts, lists and objects, and marks the page's own words in texts. */
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import { isObject } from '#src/shared/json/json-value.ts';
import type { TextKey } from '../../pages/languages/language.ts';
import type { Earlier, PagePhrase, Say } from './rows.ts';

/** Returns the given list, or an empty list for anything else. */
export const list = (value: unknown): Json[] => (Array.isArray(value) ? value : []);
/** Returns the given object, or an empty object for anything else. */
export const object = (value: unknown): JsonObject => (isObject(value) ? value : {});
/** Returns the items in a list as objects. */
export const objectsIn = (value: unknown): JsonObject[] => list(value).map(object);
/** Characters that mark the beginning and end of a key of the page's own texts. They don't occur in a record's text. */
const MARKS = ['\ue000', '\ue001'] as const;
/** Returns the mark for one of the page's own texts; `inWords` replaces the mark. */
export const word = (key: TextKey): string => `${MARKS[0]}${key}${MARKS[1]}`;

/** Returns the mark for a phrase from the clinical reading; `inWords` replaces the mark. */
export const phraseMark = (phrase: PagePhrase): string => `${MARKS[0]}${JSON.stringify(phrase)}${MARKS[1]}`;

/**
 * Returns text in which the marks are replaced by the page's own texts.
 * @param say returns a text by its key
 */
export function inWords(text: string, say: Say): string {
  return text
    .replace(/\ue000([a-z\d.]+)\ue001/g, (_, key: TextKey) => say(key))
    .replace(/\ue000(\{[^\ue001]*\})\ue001/g, (_, phrase: string) => phraseText(JSON.parse(phrase), say));
}

/** Returns a phrase from the clinical reading in words, or the record's text in place of a date. */
export function phraseText(phrase: PagePhrase, say: Say): string {
  const { key, days = {}, times, state, doses, values, text, before = '', words = {} } = phrase;
  const { when, earlier } = phrase;
  const shown = Object.entries(days).map(([name, date]): [string, string] => [name, say.day(date)]);
  const named = Object.entries(words).map(([name, of]) => [name, say(of)]);
  const worded = (): string => {
    if (key === undefined) return '';
    if (key === 'known.on') return shown[0]?.[1] ?? '';
    return say(key, {
      ...Object.fromEntries([...shown, ...named]),
      ...{ times, state, doses, ...values },
      ...(when === undefined ? {} : { when: phraseText(when, say) }),
      ...(earlier === undefined ? {} : { before: earlierText(earlier, say) }),
    });
  };
  return [inWords(before, say), text ?? worded()].filter((part) => part !== '').join(': ');
}

function earlierText(earlier: readonly Earlier[], say: Say): string {
  return earlier
    .map(({ when, ...said }) =>
      [
        'key' in said ? say(said.key) : inWords(said.text, say),
        when === undefined ? '' : phraseText(when, say),
      ]
        .filter((part) => part !== '')
        .join(`${say('shl.comma')} `),
    )
    .join(' | ');
}

/** The marks, and the characters that would change the direction of the text after them. */
const UNWANTED = /[\u200e\u200f\u202a-\u202e\u2066-\u2069\ue000\ue001]/g;
/** Returns text without characters that could affect the text around it. */
export const clean = (text: string): string => text.replace(UNWANTED, '').trim();
/** Returns a member as text of limited length. */
export const string = (value: unknown): string =>
  typeof value === 'string' || typeof value === 'number' ? clean(String(value)).slice(0, 2_000) : '';
/** The separators of a list, in the page's language. */
export const COMMA = `${word('shl.comma')} `;
export const SEMICOLON = `${word('shl.semicolon')} `;
/** Joins the parts that aren't empty. */
export const joined = (parts: readonly string[], by = COMMA): string =>
  parts.filter((part) => part !== '').join(by);
