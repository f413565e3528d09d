/**
 * Translates dosages that `dosesInWords` wrote in English, for readers who have only this text, such as readers of summaries'
 * narratives. A part is treated as understood only if writing it in English again produces the same words. Also used in the
 * scripts of pages. Pure.
 */
import { findRoute, reasonText } from './dose.ts';
import type { DoseTextKey } from './dose-texts/dose-texts.ts';
import { en } from './dose-texts/en.ts';
import {
  amountRange,
  amountText,
  type DoseStyle,
  lengthText,
  separator,
  TIMES,
  type TimeUnit,
  word,
} from './dose-words.ts';
import { EVENT_KEYS, timingWords } from './timing.ts';

/** Writes a part of a dosage in a language. */
type Write = (style: DoseStyle) => string;

const ENGLISH: DoseStyle = { lang: 'en' };
const NUMBER = '\\d[\\d,]*(?:\\.\\d+)?';
const SPAN = `${NUMBER} to ${NUMBER}|(?:up to )?${NUMBER}`;
const ENDS = new RegExp(`^(up to )?(${NUMBER})(?: to (${NUMBER}))?$`);
const BARE = new RegExp(`^dose (${NUMBER})$`);
const COUNTED = new RegExp(`^(${SPAN}) (\\S+)$`);
const MEASURED = new RegExp(`^(${NUMBER}) (\\S+)$`);
const BETWEEN = new RegExp(`^(${NUMBER} \\S+) to (${NUMBER} \\S+)$`);
const DAY = '\\d{4}(?:-\\d\\d(?:-\\d\\d(?: \\d\\d:\\d\\d(?: UTC|[+-]\\d\\d:\\d\\d)?)?)?)?';

/** Writes the day at the beginning of a text in words, and leaves the time after it unchanged. */
function writeDay({ day = (date) => date }: DoseStyle, text: string): string {
  return text.replace(/^\S+/, day);
}

/** The two ends of a range, or a single number, without thousands separators. */
type Ends = readonly [low: string | undefined, high: string | undefined];

function readEnds(text: string): Ends {
  const [, most, first, last] = ENDS.exec(text.replaceAll(',', '')) ?? [];
  return most === undefined ? [first, last] : [undefined, first];
}

/** Units of time, by their English words: `hour`, `hours`. */
const UNITS: ReadonlyMap<string, TimeUnit> = new Map(
  TIMES.flatMap((unit) =>
    ['1', '2'].map((n) => [lengthText(ENGLISH, unit, n).replace(`${n} `, ''), unit] as const),
  ),
);

const quantity = (value: string | undefined, unit: string | undefined) => ({
  value,
  ...(unit === undefined ? {} : { unit }),
});

/** Reads an amount, or a range between two amounts: `2.5 mg`, `1 to 2 tablets`, `5 mg to 10 mg`, `dose 1`. */
function readAmount(text: string): Write | undefined {
  const [, bare] = BARE.exec(text) ?? [];
  if (bare !== undefined) return (style) => amountText(style, quantity(readEnds(bare)[0], undefined));
  const [, counted = '', unit] = COUNTED.exec(text) ?? [];
  const [low, high] = readEnds(counted);
  if (unit === undefined || (low === undefined && high === undefined)) return readRange(text);
  if (low !== undefined && high === undefined)
    return readRange(text) ?? ((style) => amountText(style, quantity(low, unit)));
  return (style) =>
    amountRange(style, {
      ...(low === undefined ? {} : { low: quantity(low, unit) }),
      ...(high === undefined ? {} : { high: quantity(high, unit) }),
    });
}

/** Reads a range whose two ends have different units, or that has only one end. */
function readRange(text: string): Write | undefined {
  const [, from, to] = BETWEEN.exec(text) ?? [];
  const [, least] = /^at least (.+)$/.exec(text) ?? [];
  const first = from ?? least;
  if (first === undefined) return undefined;
  const read = (each: string) => {
    const [, value = '', unit] = MEASURED.exec(each) ?? [];
    return quantity(readEnds(value)[0], unit);
  };
  return (style) => amountRange(style, { low: read(first), ...(to === undefined ? {} : { high: read(to) }) });
}

/** Reads a length of time: `3 days`, `5 to 7 days`. */
function readLength(text: string): Write | undefined {
  const [, counted = '', name = ''] = COUNTED.exec(text) ?? [];
  const unit = UNITS.get(name);
  const ends = readEnds(counted);
  return unit === undefined ? undefined : (style) => lengthText(style, unit, ...ends);
}

/** Patterns for list items: events of the day, days of the week, times. */
const EVENT = EVENT_KEYS.map((key) => en[key])
  .sort((a, b) => b.length - a.length)
  .join('|');
const HOUR = '\\d\\d:\\d\\d';
const WEEKDAYS: ReadonlyMap<string, string> = new Map(
  ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'].map((code) => [
    timingWords({ repeat: { dayOfWeek: [code] } }, ENGLISH).rhythm.replace(/^on /, ''),
    code,
  ]),
);
const WEEKDAY = [...WEEKDAYS.keys()].join('|');

/** Returns the pattern for a list in English: `A`, `A and B`, `A, B, and C`. */
function listForm(item: string): string {
  return `(?:${item})(?:(?:, | and |, and )(?:${item}))*`;
}

function readList(text: string, item: string): string[] {
  return [...text.matchAll(new RegExp(item, 'g'))].map(([each]) => each);
}

/** Maps `a day`, `an hour` and so on to the unit of time. */
const EACH: ReadonlyMap<string, TimeUnit> = new Map(
  TIMES.map((unit) => [en[`each${unit}`].replace('{times} ', ''), unit]),
);

const RHYTHM = new RegExp(
  `^${[
    `(?:(?<times>once|twice|(?:${SPAN}) times?)(?: (?<each>${[...EACH.keys()].join('|')}))?)?`,
    `(?: ?every (?:(?<count>${SPAN}) )?(?<period>[a-z]+))?`,
    `(?:,? ?(?:(?<offset>\\d+) (?<offsetUnit>minutes?|hours?) )?(?<when>${listForm(EVENT)}))?`,
    `(?: ?on (?<days>${listForm(WEEKDAY)}))?`,
    `(?: ?at (?<hours>${listForm(HOUR)}))?`,
  ].join('')}$`,
);

/** Abbreviations that have their own words because they aren't numeric rhythms. */
const NAMED = ['AM', 'PM', 'BED', 'STAT', 'JB', 'JE'] as const satisfies readonly DoseTextKey[];

/** Reads how often and when: `twice a day with meals`. */
function readRhythm(text: string): Write | undefined {
  const named = NAMED.find((key) => en[key] === text);
  if (named !== undefined) return (style) => word(style, named);
  const groups = RHYTHM.exec(text)?.groups;
  if (groups === undefined || text === '') return undefined;
  const { times = '', each = '', count, period = '', offset, offsetUnit = '', when, days, hours } = groups;
  const [low, high] =
    times === 'once' ? ['1'] : times === 'twice' ? ['2'] : readEnds(times.replace(/ times?$/, ''));
  const [from, to] = count === undefined ? ['1'] : readEnds(count);
  const unit = EACH.get(each) ?? UNITS.get(period);
  const repeat = {
    frequency: low,
    frequencyMax: high,
    ...(unit === undefined ? {} : { period: from, periodMax: to, periodUnit: unit }),
    ...(when === undefined
      ? {}
      : { when: readList(when, EVENT).map((event) => EVENT_KEYS.find((key) => en[key] === event)) }),
    ...(offset === undefined ? {} : { offset: Number(offset) * (offsetUnit.startsWith('h') ? 60 : 1) }),
    ...(days === undefined ? {} : { dayOfWeek: readList(days, WEEKDAY).map((day) => WEEKDAYS.get(day)) }),
    ...(hours === undefined ? {} : { timeOfDay: readList(hours, HOUR) }),
  };
  return (style) => timingWords({ repeat }, style).rhythm;
}

/** Reads the beginning of a dosage: an amount, a rhythm, or both. */
function readLead(text: string): Write[] {
  const blanks = [...text.matchAll(/,? /g)].map(({ index, 0: { length } }) => [index, length] as const);
  const both = blanks.flatMap(([at, length]): Write[] => {
    const [amount, rhythm] = [readAmount(text.slice(0, at)), readRhythm(text.slice(at + length))];
    if (amount === undefined || rhythm === undefined) return [];
    return [(style) => `${amount(style)}${length === 1 ? ' ' : separator(style, ',')}${rhythm(style)}`];
  });
  return [readRhythm(text), ...both, readAmount(text)].flatMap((write) => write ?? []);
}

/** Codes of routes that have words. */
const ROUTES = ['PO', 'IV', 'IM', 'SQ', '372464004', 'TOPICAL', 'ORINHL', 'SL', 'PR', '16857009', 'NASINHL'];
const ROUTE_KEYS = [...ROUTES, 'OPTHALTA', 'OTIC'].flatMap((code) => findRoute({ coding: [{ code }] }) ?? []);

// If a reason contains commas, none of the following parts may contain a number or be a further step.
const DETAIL = new RegExp(
  `^(?:as needed: (?<reason>[^,]+(?:, (?!then )[^,\\d]+)*)|for (?<during>.+)|each over (?<lasting>.+)|${[
    `(?:from (?<from>${DAY}))? ?(?:until (?<until>${DAY}))?`,
    `(?<total>${SPAN}) times in total`,
  ].join('|')})$`,
);

/** Reads a part that follows the beginning of a dosage. */
function readDetail(text: string): Write | undefined {
  const [, named = text] = /^([^()]+) \([^()]+\)$/.exec(text) ?? [];
  const route = ROUTE_KEYS.find((key) => en[key] === named);
  // Keeps the author's words for a route.
  if (route !== undefined) return (style) => `${word(style, route)}${text.slice(en[route].length)}`;
  if (text === en.asneeded) return (style) => word(style, 'asneeded');
  const { reason, during, lasting, from, until, total } = DETAIL.exec(text)?.groups ?? {};
  if (reason !== undefined) return (style) => word(style, 'reason', { reason });
  if (text.startsWith(`${en.asneeded} `)) return (style) => reasonText(style, text);
  const length = readLength(during ?? lasting ?? '');
  if (length !== undefined)
    return (style) => word(style, during === undefined ? 'lasting' : 'during', { duration: length(style) });
  if (from !== undefined && until !== undefined)
    return (style) => word(style, 'between', { from: writeDay(style, from), to: writeDay(style, until) });
  if (from !== undefined) return (style) => word(style, 'since', { day: writeDay(style, from) });
  if (until !== undefined) return (style) => word(style, 'until', { day: writeDay(style, until) });
  const count = text === 'once in total' ? '1' : total;
  return count === undefined
    ? readMost(text)
    : (style) => timingWords(readTotal(count), style).details.join('');
}

function readTotal(text: string) {
  const [count, countMax] = readEnds(text);
  return { repeat: { count, countMax } };
}

/** Reads the maximum that may be taken. */
function readMost(text: string): Write | undefined {
  const [, most = '', at] = /^at most (.+?) (?:at a time|in (a lifetime|\d.*))$/.exec(text) ?? [];
  const amount = readAmount(most);
  if (amount === undefined) return undefined;
  if (at === undefined) return (style) => word(style, 'mostonce', { amount: amount(style) });
  if (at === 'a lifetime') return (style) => word(style, 'mostever', { amount: amount(style) });
  const length = readLength(at);
  return length && ((style) => word(style, 'mostin', { amount: amount(style), duration: length(style) }));
}

/** Returns a writer for a part: the first writer whose English text equals the part. */
function findWriter(text: string): Write | undefined {
  const [, next, rest = ''] = /^(then )?(.*)$/.exec(text) ?? [];
  const found = [...readLead(rest), readDetail(rest)].find((write) => write?.(ENGLISH) === rest);
  if (found === undefined || next === undefined) return found;
  return (style) => `${word(style, 'next')} ${found(style)}`;
}

/**
 * The maximum length of a text, its maximum number of parts, and the maximum number of parts that a list may span. Text that
 * exceeds these isn't read.
 */
const MOST_LETTERS = 1_000;
const MOST_PARTS = 24;
const MOST_LISTED = 5;

/** Returns the writers for a text's parts; undefined unless all parts can be read. */
function readParts(parts: readonly string[]): readonly Write[] | undefined {
  /** The writers for the parts from each position to the end. */
  const from: (readonly Write[] | undefined)[] = [];
  from[parts.length] = [];
  for (let at = parts.length - 1; at >= 0; at -= 1)
    for (let end = at + 1; end <= Math.min(parts.length, at + MOST_LISTED); end += 1) {
      const rest = from[end];
      const write = rest && findWriter(parts.slice(at, end).join(', '));
      if (write === undefined) continue;
      from[at] = [write, ...(rest ?? [])];
      break;
    }
  return from[0];
}

/**
 * Returns the dosages in a text, written in another style. Undefined for text that `dosesInWords` didn't write in English, or
 * that contains words by the author anywhere except before a dosage and after “as needed”.
 */
export function translateDoses(text: string, style: DoseStyle): string | undefined {
  const [, author, structured = text] = /^(.+?) \((.+)\)$/.exec(text) ?? [];
  const own = readAll(text, style);
  if (own !== undefined || author === undefined) return own;
  const read = readAll(structured, style);
  return read && `${author} (${read})`;
}

function readAll(text: string, style: DoseStyle): string | undefined {
  const parts = text.split(/[,;] /);
  const isLong = text.length > MOST_LETTERS || parts.length > MOST_PARTS;
  const writers = isLong ? undefined : readParts(parts);
  return writers?.map((write) => write(style)).join(separator(style, ','));
}
