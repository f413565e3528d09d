/** Describes in words when a medicine is taken, from R4's Timing (https://hl7.org/fhir/R4/datatypes.html#Timing). Pure. */

import { listItems, readMembers, readText } from '../fields.ts';
import { decimalText } from '../numbers/decimal.ts';
import type { DoseTextKey } from './dose-texts/dose-texts.ts';
import {
  amountRange,
  codedText,
  type DoseStyle,
  durationText,
  lengthText,
  separator,
  storedRest,
  storedText,
  type TimeUnit,
  timeUnit,
  word,
  writeCount,
} from './dose-words.ts';

/** A timing in words: the part that belongs to the amount (`twice a day with meals`), and the details after it. */
export interface TimingWords {
  readonly rhythm: string;
  readonly details: readonly string[];
}

/** The meaning of HL7's abbreviations for rhythms: frequency, period and the period's unit. */
const RHYTHMS: Readonly<Record<string, Rhythm>> = {
  QD: [1, 1, 'd'],
  BID: [2, 1, 'd'],
  TID: [3, 1, 'd'],
  QID: [4, 1, 'd'],
  QOD: [1, 2, 'd'],
  WK: [1, 1, 'wk'],
  MO: [1, 1, 'mo'],
};
/** Abbreviations that have their own words. */
const NAMED: Readonly<Record<string, DoseTextKey>> = {
  AM: 'AM',
  QAM: 'AM',
  PM: 'PM',
  QPM: 'PM',
  BED: 'BED',
  QHS: 'BED',
  HS: 'BED',
  STAT: 'STAT',
  PRN: 'asneeded',
  JB: 'JB',
  JE: 'JE',
};

/** How often something is taken: a number of times in a number of time units. */
export type Rhythm = readonly [frequency: number, period: number, unit: TimeUnit];

function foldCode(code: string): string {
  return code.toUpperCase().replaceAll('.', '');
}

/** Returns the rhythm that an abbreviation means; undefined for other codes. */
export function readRhythm(code: string): Rhythm | undefined {
  const upper = foldCode(code);
  const [, hours] = /^Q(\d{1,2})H$/.exec(upper) ?? [];
  if (hours !== undefined) return [1, Number(hours), 'h'];
  return Object.hasOwn(RHYTHMS, upper) ? RHYTHMS[upper] : undefined;
}

/** Returns the words for an abbreviation; undefined for other codes. */
function abbreviation(style: DoseStyle, code: string): string | undefined {
  const upper = foldCode(code);
  const rhythm = readRhythm(code);
  if (rhythm !== undefined) return often(style, ...rhythm);
  const key = Object.hasOwn(NAMED, upper) ? NAMED[upper] : undefined;
  return key === undefined ? undefined : word(style, key);
}

const times = (style: DoseStyle, frequency: unknown, most?: unknown): string => {
  const n = writeCount(style, frequency, most);
  if (n === undefined) return '';
  const isSpan = most !== undefined && decimalText(most) !== decimalText(frequency);
  if (isSpan || ![1, 2].includes(n.count)) return word(style, 'times', { n });
  return word(style, n.count === 1 ? 'once' : 'twice');
};

/** Returns how often something is taken, in words. */
export function often(
  style: DoseStyle,
  frequency: unknown,
  period: unknown,
  unit: TimeUnit,
  more: Ends = {},
): string {
  const { frequencyMax, periodMax } = more;
  const isSingle = decimalText(frequency) === '1' && frequencyMax === undefined;
  const isPlain = decimalText(period) === '1' && periodMax === undefined;
  const count = times(style, frequency, frequencyMax);
  if (isPlain && count !== '') return word(style, `each${unit}`, { times: count });
  const n = writeCount(style, period, periodMax);
  const every = n === undefined ? '' : word(style, `every${unit}`, { n });
  return isSingle || count === '' ? every : word(style, 'timesevery', { times: count, every });
}

interface Ends {
  readonly frequencyMax?: unknown;
  readonly periodMax?: unknown;
}

const DAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];

/** Returns a day of the week in words. 1 January 2024 was a Monday. */
function weekday(style: DoseStyle, code: unknown): string {
  const at = DAYS.indexOf(String(code));
  if (at < 0) return storedText(style, code);
  const format = new Intl.DateTimeFormat(style.lang, { weekday: 'long', timeZone: 'UTC' });
  return format.format(Date.UTC(2024, 0, 1 + at));
}

const listed = ({ lang }: DoseStyle, parts: readonly string[]): string =>
  parts.length < 2 ? (parts[0] ?? '') : new Intl.ListFormat(lang, { type: 'conjunction' }).format(parts);

/** Returns a FHIR date as the style writes it, or as stored. For a date-time, the time follows, to the minute, as stored. */
function dayText(style: DoseStyle, date: unknown): string {
  const { day = (text: string) => text } = style;
  const text = readText(date) ?? storedText(style, date);
  const [, on = text, minute, zone = ''] = /^([^T]+)T(\d\d:\d\d)(?::[\d.]+)?(.*)$/.exec(text) ?? [];
  return minute === undefined ? day(text) : `${day(on)} ${minute}${zone === 'Z' ? ' UTC' : zone}`;
}

/** HL7's codes for events of the day, without the dots in the codes. */
export const EVENT_KEYS = [
  ...(['MORN', 'MORNearly', 'MORNlate', 'NOON', 'AFT', 'AFTearly', 'AFTlate'] as const),
  ...(['EVE', 'EVEearly', 'EVElate', 'NIGHT', 'PHS', 'HS', 'WAKE', 'C', 'CM', 'CD', 'CV'] as const),
  ...(['AC', 'ACM', 'ACD', 'ACV', 'PC', 'PCM', 'PCD', 'PCV', 'IC', 'ICM', 'ICD', 'ICV'] as const),
] satisfies readonly DoseTextKey[];

function findEvent(code: string): DoseTextKey | undefined {
  return EVENT_KEYS.find((key) => key === code);
}

/**
 * Returns the words for HL7's events of the day: meals, sleep, morning.
 * @param offset minutes before or after the event
 */
function eventsText(style: DoseStyle, when: unknown, offset: unknown): string {
  const codes = listItems(when).map((code) => {
    const key = findEvent(String(code).replace('.', ''));
    return key === undefined ? storedText(style, code) : word(style, key);
  });
  if (codes.length === 0) return '';
  const events = listed(style, codes);
  const minutes = Number(decimalText(offset) ?? 0);
  if (minutes === 0) return events;
  const isHours = minutes % 60 === 0;
  return `${lengthText(style, isHours ? 'h' : 'min', isHours ? minutes / 60 : minutes)} ${events}`;
}

/** Timing.repeat members that are written in words. */
const TOLD = [
  ...['boundsDuration', 'boundsRange', 'boundsPeriod', 'count', 'countMax', 'duration', 'durationMax'],
  ...['durationUnit', 'frequency', 'frequencyMax', 'period', 'periodMax', 'periodUnit', 'dayOfWeek'],
  ...['timeOfDay', 'when', 'offset'],
];

function writeRhythm(style: DoseStyle, repeat: Readonly<Record<string, unknown>>): string {
  const { frequency, frequencyMax, period, periodMax, periodUnit, dayOfWeek, timeOfDay, when, offset } =
    repeat;
  const unit = timeUnit(periodUnit);
  const rhythm =
    unit === undefined || period === undefined
      ? times(style, frequency, frequencyMax)
      : often(style, frequency, period, unit, { frequencyMax, periodMax });
  const days = listItems(dayOfWeek).map((day) => weekday(style, day));
  const hours = listItems(timeOfDay).map((time) =>
    storedText(style, time).replace(/^(\d\d:\d\d):00(?:\.0+)?$/, '$1'),
  );
  const events = eventsText(style, when, offset);
  return [
    rhythm === '' || events === '' || offset === undefined
      ? rhythm
      : `${rhythm}${separator(style, ',').trim()}`,
    events,
    days.length === 0 ? '' : word(style, 'ondays', { days: listed(style, days) }),
    hours.length === 0 ? '' : word(style, 'attimes', { times: listed(style, hours) }),
  ]
    .filter((part) => part !== '')
    .join(' ');
}

/**
 * Returns the parts of a rhythm for which there are no words, as stored: a period without a unit, or an offset without an
 * event.
 */
function listUnsaid(style: DoseStyle, repeat: Readonly<Record<string, unknown>>): string[] {
  const { period, periodUnit, durationUnit, when, offset } = repeat;
  const hasPeriod = period !== undefined && timeUnit(periodUnit) !== undefined;
  const hasDuration = timeUnit(durationUnit) !== undefined;
  const names = [
    ...(hasPeriod ? [] : ['period', 'periodMax', 'periodUnit']),
    ...(hasDuration && repeat.duration !== undefined ? [] : ['duration', 'durationMax', 'durationUnit']),
    ...(when === undefined && offset !== undefined ? ['offset'] : []),
  ];
  return names.flatMap((name) =>
    repeat[name] === undefined ? [] : [`${name}: ${storedText(style, repeat[name])}`],
  );
}

function writeBounds(style: DoseStyle, repeat: Readonly<Record<string, unknown>>): string[] {
  const { boundsDuration, boundsRange, boundsPeriod, count, countMax, duration, durationMax, durationUnit } =
    repeat;
  const { low, high } = readMembers(boundsRange);
  const [first, last] = [readMembers(low), readMembers(high)];
  const unit = timeUnit(first.code ?? last.code);
  const isOne = unit !== undefined && (low === undefined || high === undefined || first.code === last.code);
  const length =
    boundsRange === undefined
      ? ''
      : isOne && high !== undefined
        ? lengthText(style, unit, first.value, last.value)
        : amountRange(style, boundsRange);
  const lasts = timeUnit(durationUnit);
  const total = writeCount(style, count, countMax);
  return [
    boundsDuration === undefined
      ? ''
      : word(style, 'during', { duration: durationText(style, boundsDuration) }),
    length === '' ? '' : word(style, 'during', { duration: length }),
    boundsPeriod === undefined ? '' : periodText(style, boundsPeriod),
    total === undefined ? '' : word(style, 'total', { n: total }),
    lasts === undefined || duration === undefined
      ? ''
      : word(style, 'lasting', { duration: lengthText(style, lasts, duration, durationMax) }),
  ].filter((part) => part !== '');
}

function periodText(style: DoseStyle, period: unknown): string {
  const { start, end } = readMembers(period);
  if (start === undefined && end === undefined) return storedText(style, period);
  if (end === undefined) return word(style, 'since', { day: dayText(style, start) });
  if (start === undefined) return word(style, 'until', { day: dayText(style, end) });
  return word(style, 'between', { from: dayText(style, start), to: dayText(style, end) });
}

/** Returns a Timing in words. A part for which there are no words is added to the details, as stored. */
export function timingWords(timing: unknown, style: DoseStyle): TimingWords {
  const { code, repeat, event } = readMembers(timing);
  const members = readMembers(repeat);
  const codes = listItems(readMembers(code).coding).map((coding) => readText(readMembers(coding).code));
  const known = [...codes, readText(readMembers(code).text)]
    .flatMap((each) => (each === undefined ? [] : (abbreviation(style, each) ?? [])))
    .at(0);
  const said = abbreviation(style, readText(readMembers(code).text) ?? '');
  const isSaid = known !== undefined && said === known;
  const named = code === undefined ? '' : isSaid ? known : codedText(style, code, known);
  const rhythm = writeRhythm(style, members);
  const isSame = rhythm === '' || named.toLowerCase() === rhythm.toLowerCase();
  const days = listItems(event).map((date) => dayText(style, date));
  return {
    rhythm: named === '' ? rhythm : isSame ? named : `${named} (${rhythm})`,
    details: [
      ...writeBounds(style, members),
      ...(days.length === 0 ? [] : [word(style, 'ondates', { days: listed(style, days) })]),
      ...listUnsaid(style, members),
      ...storedRest(style, members, TOLD),
      ...storedRest(style, timing, ['code', 'repeat', 'event']),
    ],
  };
}
