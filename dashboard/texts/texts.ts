/** The dashboard's texts in the person's language. */
import { computed, signal } from '@preact/signals';
import { de } from './de.ts';
import { en } from './en.ts';

/** Names of texts, as in `en.ts`. */
export type TextKey = keyof typeof en;
/** All texts in one language. */
export type Texts = Readonly<Record<TextKey, string>>;

/** Languages by code, each with its name in that language. */
export const LANGUAGES = {
  en: { name: 'English', texts: en as Texts },
  de: { name: 'Deutsch', texts: de },
} as const;
/** Language codes. */
export type Language = keyof typeof LANGUAGES;

const KEPT = 'annal.language';

/** The current language. */
export const language = signal<Language>(chosen());

function chosen(): Language {
  const wanted = [localStorage.getItem(KEPT), ...navigator.languages];
  for (const each of wanted) {
    const code = each?.slice(0, 2);
    if (code !== undefined && Object.hasOwn(LANGUAGES, code)) return code as Language;
  }
  return 'en';
}

/** Switches to a different language, which this browser keeps from now on. */
export function choose(code: Language): void {
  localStorage.setItem(KEPT, code);
  language.value = code;
  document.documentElement.lang = code;
}

/** The texts in the current language. */
export const texts = computed((): Texts => LANGUAGES[language.value].texts);

/**
 * Returns a text.
 * @param given values for the text's placeholders, `{name}`; numbers are written in the language's format
 */
export function say(key: TextKey, given: Readonly<Record<string, string | number>> = {}): string {
  return LANGUAGES[language.value].texts[key].replace(/\{(\w+)\}/g, (whole, name: string) => {
    const value = given[name];
    if (value === undefined) return whole;
    return typeof value === 'number' ? value.toLocaleString(language.value) : value;
  });
}

/** Returns the text for a number: `key.one` for 1, otherwise `key.other`; `{count}` is the placeholder for the number. */
export function sayCount(key: string, count: number): string {
  return say(`${key}.${count === 1 ? 'one' : 'other'}` as TextKey, { count });
}

/** English dates have the day before the month and a 24-hour clock, as in the sentences of records. */
export const dateLocale = computed(() => (language.value === 'en' ? 'en-GB' : language.value));

/**
 * Returns a date and time in the language's format.
 * @param iso an instant
 */
export function sayMoment(iso: string): string {
  return momentFormat.value.format(new Date(iso));
}

const momentFormat = computed(
  () => new Intl.DateTimeFormat(dateLocale.value, { dateStyle: 'medium', timeStyle: 'medium' }),
);

/**
 * Returns a date and time with the time zone.
 * @param iso an instant
 */
export function sayMomentInZone(iso: string): string {
  return zonedFormat.value.format(new Date(iso));
}

const zonedFormat = computed(
  () => new Intl.DateTimeFormat(dateLocale.value, { dateStyle: 'medium', timeStyle: 'long' }),
);

/**
 * Returns a date in the language's format.
 * @param iso an instant
 */
export function sayDay(iso: string): string {
  return new Intl.DateTimeFormat(dateLocale.value, { dateStyle: 'medium' }).format(new Date(iso));
}

/** Returns a number in the language's format. */
export function sayNumber(value: number): string {
  return value.toLocaleString(language.value);
}

/** Returns a size in the language's format, such as "1.5 MB". */
export function sayBytes(bytes: number): string {
  const [divisor, unit] = BYTES.find(([least]) => Math.abs(bytes) >= least) ?? [1e3, 'kilobyte'];
  return new Intl.NumberFormat(language.value, { style: 'unit', unit, maximumFractionDigits: 1 }).format(
    bytes / divisor,
  );
}

const BYTES = [
  [1e12, 'terabyte'],
  [1e9, 'gigabyte'],
  [1e6, 'megabyte'],
] as const;

/** Returns a FHIR date in the language's format, with the precision that it has; a date with a time is returned as written. */
export function sayDate(date: string): string {
  const [, year, month, day] = /^(\d{4})(?:-(\d\d)(?:-(\d\d))?)?/.exec(date) ?? [];
  if (year === undefined) return date;
  return new Intl.DateTimeFormat(dateLocale.value, {
    year: 'numeric',
    ...(month === undefined ? {} : { month: 'long' }),
    ...(day === undefined ? {} : { day: 'numeric' }),
    timeZone: 'UTC',
  }).format(Date.parse(`${year}-${month ?? '01'}-${day ?? '01'}`));
}

/** Returns a number of hours in the language's format, such as "24 hours". */
export function sayHours(hours: number): string {
  return new Intl.NumberFormat(language.value, { style: 'unit', unit: 'hour', unitDisplay: 'long' }).format(
    hours,
  );
}

/** Returns how long ago an instant was, such as "3 minutes ago". */
export function sayAgo(iso: string): string {
  // Recomputed on each tick.
  void tick.value;
  const seconds = Math.round((Date.parse(iso) - Date.now()) / 1_000);
  const format = agoFormat.value;
  for (const [unit, length] of UNITS)
    if (Math.abs(seconds) >= length) return format.format(Math.round(seconds / length), unit);
  return format.format(seconds, 'second');
}

const agoFormat = computed(() => new Intl.RelativeTimeFormat(language.value, { numeric: 'auto' }));

/** Increments every ten seconds, so that relative times stay correct. */
const tick = signal(0);
setInterval(() => {
  tick.value += 1;
}, 10_000);

const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
] as const;
