/** The languages of the pages, and a page's texts in one of them. */
import { Html, html } from '#src/shared/html.ts';
import { ar } from './languages/ar.ts';
import { de } from './languages/de.ts';
import { en } from './languages/en.ts';
import { es } from './languages/es.ts';
import { fr } from './languages/fr.ts';
import type { TextKey, Wording } from './languages/language.ts';
import { nb } from './languages/nb.ts';

const WORDINGS = { en, de, fr, es, nb, ar } as const satisfies Readonly<Record<string, Wording>>;

/** A language of the pages, as a BCP 47 tag. */
export type Language = keyof typeof WORDINGS;

/** The languages with their own names, in the order of the menu. */
export const LANGUAGES: Readonly<Record<Language, string>> = {
  en: 'English',
  de: 'Deutsch',
  fr: 'Français',
  es: 'Español',
  nb: 'Norsk',
  ar: 'العربية',
};

/** The names of the placeholders in a text. */
type PlaceholdersIn<S extends string> = S extends `${string}{${infer P}}${infer Rest}`
  ? P | PlaceholdersIn<Rest>
  : never;

/** What a text takes: nothing, or a value for each of its placeholders. */
type Values<K extends TextKey, V> = [PlaceholdersIn<(typeof en)[K]>] extends [never]
  ? []
  : [values: Readonly<Record<PlaceholdersIn<(typeof en)[K]>, V>>];

/** The texts of a page in one language. */
export interface Texts {
  readonly lang: Language;
  /** Returns a text with its placeholders filled in. */
  <K extends TextKey>(key: K, ...values: Values<K, string | number>): string;
  /** Returns a text as HTML: the text and plain values are escaped, values that are HTML stay as they are. */
  html<K extends TextKey>(key: K, ...values: Values<K, string | number | Html>): Html;
  /** Returns a day in words, such as `23 November 2026`. @param at milliseconds since 1970; the day is that of UTC */
  day(at: number): string;
}

/** Returns the texts of a language. */
export function texts(lang: Language): Texts {
  const wording: Wording = WORDINGS[lang];
  const days = new Intl.DateTimeFormat(lang === 'en' ? 'en-GB' : lang, {
    day: 'numeric',
    month: 'long',
    year: 'numeric',
    timeZone: 'UTC',
  });
  const parts = (key: TextKey): string[] => wording[key].split(/\{([a-z]+)\}/);
  return Object.assign(
    (key: TextKey, values: Readonly<Record<string, string | number>> = {}): string =>
      parts(key)
        .map((part, i) => (i % 2 === 0 ? part : String(values[part] ?? '')))
        .join(''),
    {
      lang,
      html: (key: TextKey, values: Readonly<Record<string, string | number | Html>> = {}): Html =>
        new Html(
          parts(key)
            .map((part, i) => html`${i % 2 === 0 ? part : (values[part] ?? '')}`.text)
            .join(''),
        ),
      day: (at: number): string => days.format(at),
    },
  );
}

/** Returns the texts of a language whose keys begin with a prefix, with their placeholders: for scripts of a page. */
export function wordsOf(lang: Language, prefix: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(WORDINGS[lang]).filter(([key]) => key.startsWith(prefix)));
}

/**
 * Returns the language that a `lang` parameter names: a BCP 47 tag, of which the primary subtag counts (`de-CH` is
 * German, `no` and `nn` are Norwegian). An unknown or missing one is English (docs/spec/decisions.md, section 9).
 */
export function languageOf(lang: string | null | undefined): Language {
  return known(lang ?? '') ?? 'en';
}

/** Returns the first language of a list of BCP 47 tags that the pages have; undefined without one. */
export function firstLanguage(tags: readonly string[]): Language | undefined {
  return tags.map(known).find((language) => language !== undefined);
}

/** Returns the languages in the order of the menu: those that the browser prefers come first (RFC 9110, section 12.5.4). */
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
