/**
 * Compares dosage texts where that is possible with certainty: the texts have the same words but a different amount, or a
 * different rhythm among those that this program can write. Pure.
 */
import type { WordLanguage } from '../names/code-words.ts';
import { readForm } from './dose-words.ts';
import { often, type Rhythm } from './timing.ts';

/** The result of a comparison; `unclear` if the texts differ in words whose meaning isn't certain. */
export type DoseComparison = 'same' | 'other' | 'unclear';

/** The number of days in each unit of time. */
const DAYS: Readonly<Record<Rhythm[2], number>> = {
  s: 1 / 86_400,
  min: 1 / 1_440,
  h: 1 / 24,
  d: 1,
  wk: 7,
  mo: 30.4375,
  a: 365.25,
};

/** Returns how many times per day something is taken. */
export function countDaily([frequency, period, unit]: Rhythm): number {
  return frequency / (period * DAYS[unit]);
}

/**
 * Compares how many times per day something is taken, with a tolerance because months and years have no exact number of days.
 */
export function compareDaily(one: number, other: number): DoseComparison {
  const ratio = Math.max(one, other) / Math.min(one, other);
  if (ratio < 1.000_001) return 'same';
  return ratio > 1.1 ? 'other' : 'unclear';
}

/** Common words for rhythms, in addition to the words with which dosages are written here. */
const COMMON: readonly (readonly [words: string, rhythm: Rhythm])[] = [
  ['daily|once daily|every day|täglich|chaque jour|cada día|daglig|hver dag', [1, 1, 'd']],
  ['twice daily', [2, 1, 'd']],
  ['three times daily|three times a day', [3, 1, 'd']],
  ['four times daily|four times a day', [4, 1, 'd']],
  ['weekly|once weekly|every week|wöchentlich|einmal wöchentlich', [1, 1, 'wk']],
  ['chaque semaine|cada semana|ukentlig|hver uke', [1, 1, 'wk']],
  ['twice weekly', [2, 1, 'wk']],
  ['monthly|once monthly|every month|monatlich', [1, 1, 'mo']],
  ...[1, 2, 3, 4, 5, 6].flatMap((n): [string, Rhythm][] => [
    [`${n} times a day|${n} times daily|${n} times per day|${n}x daily|${n}x täglich`, [n, 1, 'd']],
    [`${n} times a week|${n} times weekly|${n} times per week|${n}x weekly|${n}x wöchentlich`, [n, 1, 'wk']],
  ]),
];

const LANGUAGES: readonly WordLanguage[] = ['en', 'de', 'fr', 'es', 'nb', 'ar'];

/** The limits of the rhythms that are searched for in text: times per period, and units per period. */
const MOST: readonly (readonly [unit: Rhythm[2], times: number, units: number])[] = [
  ['h', 1, 72],
  ['d', 8, 14],
  ['wk', 7, 12],
  ['mo', 4, 12],
];

interface Phrases {
  /** Maps each phrase to the number of times per day. */
  readonly daily: ReadonlyMap<string, number>;
  readonly form: RegExp;
}

let phrases: Phrases | undefined;

function listRhythms(): Rhythm[] {
  return MOST.flatMap(([unit, times, units]): Rhythm[] => [
    ...Array.from({ length: times }, (_, n): Rhythm => [n + 1, 1, unit]),
    ...Array.from({ length: units }, (_, n): Rhythm => [1, n + 1, unit]),
  ]);
}

function readPhrases(): Phrases {
  const daily = new Map<string, number>();
  for (const rhythm of listRhythms())
    for (const lang of LANGUAGES) daily.set(foldText(often({ lang }, ...rhythm)), countDaily(rhythm));
  for (const [words, rhythm] of COMMON)
    for (const each of words.split('|')) daily.set(foldText(each), countDaily(rhythm));
  const longestFirst = [...daily.keys()].sort((a, b) => b.length - a.length);
  return { daily, form: new RegExp(`(?<![\\p{L}\\d])(?:${longestFirst.join('|')})(?![\\p{L}\\d])`, 'gu') };
}

/** Returns a text in the form used for comparison: `Take 15mg daily.` becomes `take 15 mg daily`. */
function foldText(text: string): string {
  return text
    .normalize('NFKC')
    .toLowerCase()
    .replace(/(\d),(?=\d)/g, '$1.')
    .replace(/(\d)(?=[a-zµμ])/g, '$1 ')
    .replace(/(\d) (?=x )/g, '$1')
    .replace(/\s+/g, ' ')
    .replace(/[\s.]+$/, '')
    .trim();
}

/** Matches numbers that aren't amounts (days, times, long numbers), and numbers such as 1,000 that may be one amount or two. */
const NO_AMOUNTS = /\d[./:-]\d+[./:-]\d|\d:\d\d|\d{5}|(?<![\d.])[1-9]\d{0,2}\.\d{3}(?!\d)/;
const UNITS: ReadonlySet<string> = new Set(
  'g mg mcg µg μg ug ng ml l iu ie ui unit units einheiten %'.split(' '),
);
const [RHYTHM, NUMBER] = ['\ue003', '\ue004'];
/** Matches a number and the following word. */
const COUNTED = new RegExp(`${NUMBER} ([^\\s,;]+)`, 'g');

interface ReadText {
  readonly frame: string;
  readonly daily: readonly number[];
  readonly numbers: readonly string[];
  /** True if the first number is an amount. */
  readonly isDosed: boolean;
}

function readText(text: string): ReadText {
  phrases ??= readPhrases();
  const { daily, form } = phrases;
  const found: number[] = [];
  const numbers: string[] = [];
  const frame = text
    .replace(form, (each) => {
      found.push(daily.get(each) ?? 0);
      return RHYTHM;
    })
    .replace(/\d+(?:\.\d+)?/g, (each) => {
      numbers.push(each);
      return NUMBER;
    });
  const units: string[] = [];
  const counted = frame.replace(COUNTED, (_, unit: string) => {
    units.push(unit);
    return `${NUMBER} ${readForm(unit) ?? unit}`;
  });
  const [unit = ''] = units;
  const isDosed = UNITS.has(unit) || readForm(unit) !== undefined;
  return { frame: counted, daily: found, numbers, isDosed };
}

/** Compares dosage texts. */
export function compareDoseTexts(one: string, other: string): DoseComparison {
  const [a, b] = [foldText(one), foldText(other)];
  if (a === b) return 'same';
  if (NO_AMOUNTS.test(a) || NO_AMOUNTS.test(b)) return 'unclear';
  const [first, second] = [readText(a), readText(b)];
  if (first.frame !== second.frame || first.daily.length > 1) return 'unclear';
  const [[own], [that]] = [first.daily, second.daily];
  const rhythm = own === undefined || that === undefined ? 'same' : compareDaily(own, that);
  const [amount = 0, ...others] = first.numbers.map((each, n) => Number(each) - Number(second.numbers[n]));
  if (others.some((difference) => difference !== 0)) return 'unclear';
  if (amount === 0) return rhythm;
  return first.isDosed ? 'other' : 'unclear';
}
