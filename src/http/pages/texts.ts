/** Defines the pages' languages, and returns a page's texts in one of them. */

import { fillWording } from '#src/clinical/reading/wording.ts';
import { Html, html } from '#src/shared/html.ts';
import { ar } from './languages/ar.ts';
import { de } from './languages/de.ts';
import { en } from './languages/en.ts';
import { es } from './languages/es.ts';
import { fr } from './languages/fr.ts';
import type { TextKey, Wording } from './languages/language.ts';
import { nb } from './languages/nb.ts';

const WORDINGS = { en, de, fr, es, nb, ar } as const satisfies Readonly<Record<string, Wording>>;

/** One of the pages' languages, as a BCP 47 tag. */
export type Language = keyof typeof WORDINGS;

/** The languages with their names in the language itself, in menu order. */
export const LANGUAGES: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  nb: 'Norsk',
  ar: 'العربية',
};

/** The names of the placeholders in a text. In `{times|one:once|other:# times}`, the name is `times`. */
type PlaceholdersIn<S extends string> = S extends `${string}{${infer P}}${infer Rest}`
  ? (P extends `${infer Name}|${string}` ? Name : P) | PlaceholdersIn<Rest>
  : never;

/** The arguments of a text: none, or a value for each of its placeholders. */
type Values<K extends TextKey, V> = [PlaceholdersIn<(typeof en)[K]>] extends [never]
  ? []
  : [values: Readonly<Record<PlaceholdersIn<(typeof en)[K]>, V>>];

/** A page's texts in one language. */
export interface Texts {
  readonly lang: Language;
  /** Returns a text with its placeholders filled in. */
  <K extends TextKey>(key: K, ...values: Values<K, string | number>): string;
  /** Returns a text as HTML. The text and plain values are escaped; values that are already HTML are inserted unchanged. */
  html<K extends TextKey>(key: K, ...values: Values<K, string | number | Html>): Html;
  /**
   * Returns a day in words, such as `23 November 2026`.
   * @param at milliseconds since 1970; the day is in UTC
   */
  day(at: number): string;
  /**
   * Returns a day in short form, such as `23 Nov 2026`.
   * @param at milliseconds since 1970; the day is in UTC
   */
  shortDay(at: number): string;
  /**
   * Returns a date and time, such as `23 Nov 2026, 14:05 UTC`.
   * @param at milliseconds since 1970
   */
  moment(at: number): string;
  /**
   * Returns the name of the weekday, in UTC.
   * @param at milliseconds since 1970
   */
  weekday(at: number): string;
  /**
   * Returns a number with the language's digits and separators.
   * @param digits the maximum number of decimal places; default: as many as the number has
   */
  number(value: number, digits?: number): string;
  /** Returns the parts as a list in a sentence: `a, b and c`. */
  list(parts: readonly string[]): string;
}

/** Returns the texts in a language. */
export function texts(lang: Language): Texts {
  const wording: Wording = WORDINGS[lang];
  const locale = lang === 'en' ? 'en-GB' : lang;
  const { day, shortDay, moment, weekday, list } = dateFormats(locale);
  const number = (value: number, digits = 20): string =>
    new Intl.NumberFormat(locale, { maximumFractionDigits: digits }).format(value);
  const fill = <V>(key: TextKey, values: Readonly<Record<string, V>>): (string | V)[] =>
    fillWording(wording[key], values, locale, (count) => number(Number(count)));
  return Object.assign(
    (key: TextKey, values: Readonly<Record<string, string | number>> = {}): string =>
      fill(key, values).map(String).join(''),
    {
      lang,
      html: (key: TextKey, values: Readonly<Record<string, string | number | Html>> = {}): Html =>
        new Html(
          fill(key, values)
            .map((part) => html`${part}`.text)
            .join(''),
        ),
      day: (at: number): string => plain(day.format(at)),
      shortDay: (at: number): string => plain(shortDay.format(at)),
      moment: (at: number): string => `${plain(moment.format(at))} UTC`,
      weekday: (at: number): string => weekday.format(at),
      number,
      list: (parts: readonly string[]): string => list.format(parts),
    },
  );
}

/**
 * Returns the texts in a language whose keys begin with a prefix, for a page's scripts. Their placeholders aren't filled in.
 */
export function pickWords(lang: Language, prefix: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(WORDINGS[lang]).filter(([key]) => key.startsWith(prefix)));
}

interface Formats {
  readonly day: Intl.DateTimeFormat;
  readonly shortDay: Intl.DateTimeFormat;
  readonly moment: Intl.DateTimeFormat;
  readonly weekday: Intl.DateTimeFormat;
  readonly list: Intl.ListFormat;
}

const formats = new Map<string, Formats>();

/** Returns the date formats for a language. They are cached, because creating them takes a while. */
function dateFormats(locale: string): Formats {
  const known = formats.get(locale);
  if (known !== undefined) return known;
  const date = { day: 'numeric', year: 'numeric', timeZone: 'UTC' } as const;
  const made: Formats = {
    day: new Intl.DateTimeFormat(locale, { ...date, month: 'long' }),
    shortDay: new Intl.DateTimeFormat(locale, { ...date, month: 'short' }),
    moment: new Intl.DateTimeFormat(locale, {
      ...date,
      month: 'short',
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }),
    weekday: new Intl.DateTimeFormat(locale, { weekday: 'long', timeZone: 'UTC' }),
    list: new Intl.ListFormat(locale, { type: 'conjunction' }),
  };
  formats.set(locale, made);
  return made;
}

/** Returns a formatted date without direction marks. Pages show such marks by their names, and use `bdi` instead. */
function plain(text: string): string {
  return text.replace(/[\u200e\u200f\u061c]/g, '');
}

/**
 * Returns the language that a `lang` parameter names. It is a BCP 47 tag, of which only the primary subtag matters (`de-CH` is
 * German, `no` and `nn` are Norwegian). An unknown or missing tag means English (docs/spec/decisions.md, section 9).
 */
export function chooseLanguage(lang: string | null | undefined): Language {
  return known(lang ?? '') ?? 'en';
}

/** Returns the first language in a list of BCP 47 tags in which the pages are available; undefined if there is none. */
export function firstLanguage(tags: readonly string[]): Language | undefined {
  return tags.map(known).find((language) => language !== undefined);
}

/** Returns the languages in menu order, but with the languages that the browser prefers first (RFC 9110, section 12.5.4). */
export function languagesFor(acceptLanguage: string): readonly Language[] {
  const preferred = acceptLanguage
    .slice(0, 500)
    .split(',')
    .map((range) => {
      const [tag = '', ...parameters] = range.split(';').map((part) => part.trim());
      const q = parameters.find((parameter) => parameter.startsWith('q='))?.slice(2);
      return { language: known(tag), quality: q === undefined ? 1 : Number(q) };
    })
    .filter(({ quality }) => quality > 0)
    .sort((a, b) => b.quality - a.quality)
    .flatMap(({ language }) => (language === undefined ? [] : [language]));
  return [...new Set([...preferred, ...ALL])];
}

const ALL = Object.keys(WORDINGS).filter(isLanguage);

function isLanguage(tag: string): tag is Language {
  return Object.hasOwn(WORDINGS, tag);
}

function known(tag: string): Language | undefined {
  const primary = tag.toLowerCase().split('-', 1)[0] ?? '';
  const language = primary === 'no' || primary === 'nn' ? 'nb' : primary;
  return isLanguage(language) ? language : undefined;
}
