/** Collects findings: for each code, the newest value, the previous values, their range, and the last change. */

import { revisionText } from '#src/clinical/reading/english.ts';
import { findCodeWord } from '#src/clinical/reading/names/code-words.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { placeOutside } from '#src/clinical/reading/numbers/normal-range.ts';
import {
  readingText,
  readMeasured,
  unitOfQuantity,
  unitText,
} from '#src/clinical/reading/numbers/quantity.ts';
import { findPressure } from '#src/clinical/reading/pressure.ts';
import { findValueRevision } from '#src/clinical/reading/revisions.ts';
import { readCodes } from '#src/clinical/reading/told.ts';
import { notes, referenceRange } from '#src/clinical/reading/words.ts';
import { loincCodes, objects } from '#src/fhir/parts.ts';
import type { Finding } from '#src/insight/finding.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { saysSame } from '#src/shared/time/day.ts';
import { type Fact, line } from './fact.ts';
import { type MonitoredFindings, raiseForRequest, scoreOfFinding } from './guidance/scores.ts';
import type { Course } from './newest.ts';
import { describePatterns, patternMembers } from './patterns.ts';
import { ageDays, codeMembers, findDay, namedEntry, nameOr, type Reading } from './reading.ts';
import { type Entry, versionReference } from './record.ts';
import { numberIn, unitIn, valueIn } from './value.ts';

/** Returns, in a word, why a value is remarkable, and which of its components are remarkable; undefined if nothing says so. */
function findFlag(value: JsonObject): string | undefined {
  const parts = objects(value.component).map((component) => {
    const flag = ownFlag(component);
    return flag && `${partName(component)} ${flag}`;
  });
  return line(', ', ownFlag(value), ...parts) || undefined;
}

/** Returns a component's name. For a blood pressure, which is written without names, it is a single word. */
function partName({ code }: JsonObject): string {
  const pressure = findPressure(loincCodes(code));
  if (pressure === undefined) return nameOr(code, 'part');
  return pressure.isSystolic ? 'systolic' : 'diastolic';
}

/**
 * Returns why a value is remarkable, ignoring its components: its interpretation or, if that is missing or normal, its place
 * outside the normal range.
 * @param value an Observation or a component
 */
function ownFlag(value: JsonObject): string | undefined {
  const said = line(', ', ...objects(value.interpretation).map(flagIn));
  return said === '' ? placeOutside(value) : said;
}

/** Returns the interpretation of a result without a value. */
function judgementIn({ interpretation }: JsonObject): string {
  return line(', ', ...objects(interpretation).map(judgementWord));
}

/** Returns an interpretation in words; if it has no code, its own text. */
function judgementWord(judgement: JsonObject): string | undefined {
  const [{ code = '' } = {}] = readCodes(judgement);
  return findCodeWord('en', 'interpretation', code) ?? nameConcept(judgement);
}

/** Returns an interpretation in words, unless it says that the value is normal. */
function flagIn(flag: JsonObject): string | undefined {
  const [{ code = '' } = {}] = readCodes(flag);
  const said = judgementWord(flag);
  return code === 'N' || /^n(ormal)?$/i.test(said ?? '') ? undefined : said;
}

/** Statuses of results that may still change, or that aren't confirmed. */
const UNFINISHED: Readonly<Record<string, string>> = {
  preliminary: 'preliminary',
  unknown: 'status unknown',
};

/**
 * Returns one fact per series.
 * @param patterns the trends and changes of each series, in the order of the series
 */
export function findings(
  reading: Reading,
  courses: readonly Course[],
  watched: MonitoredFindings,
  patterns: readonly (readonly Finding[])[],
): Fact[] {
  return courses.flatMap((course, n) => stateFinding(reading, course, watched, patterns[n] ?? []) ?? []);
}

function stateFinding(
  reading: Reading,
  { kind, measure, entries, newest }: Course,
  watched: MonitoredFindings,
  patterns: readonly Finding[],
): Fact | undefined {
  const { focus, displays } = reading;
  const [latest, ...before] = newest;
  if (latest === undefined) return undefined;
  const { value, replaced } = namedEntry(latest, displays);
  const name = nameOr(value.code, 'finding without a name');
  const number = numberIn(latest.value);
  const flag = findFlag(value);
  const hasValue = valueIn(value) !== undefined;
  const shown = valueIn(value) ?? judgementIn(value);
  const range = withoutUnit(referenceRange(value.referenceRange), unitOfQuantity(value.valueQuantity));
  const statistics = summarizeNewest(entries, number, value);
  const head = line(
    ', ',
    `${name}${number === undefined && !/^\d/.test(shown) ? ':' : ''} ${shown} (${line('; ', findDay(latest) ?? 'no date', hasValue ? flag : undefined, range === undefined ? undefined : `range ${range}`, UNFINISHED[String(value.status)])})`,
  );
  const same = before.filter((entry) => isBeside(entry, latest));
  const atOnce = entries.filter((entry) => isBeside(entry, latest)).length - same.length;
  const past = before
    .filter((entry) => !same.includes(entry))
    .map((entry) => `${dropUnit(entry.value, value)} (${findDay(entry) ?? 'no date'})`);
  const revision = findValueRevision({ value, replaced }, valueIn);
  const said = line(
    '; ',
    head,
    notes(value.note),
    sayBeside(same, atOnce, value),
    revision === undefined ? undefined : revisionText(revision),
    past.length === 0 ? undefined : `before ${past.join(', ')}`,
    countEarlier(entries, newest.length, statistics?.text),
    describePatterns(patterns, entries.length),
  );
  const score = scoreOfFinding(kind, measure, watched, focus, ageDays(reading, latest), flag !== undefined);
  const about = { kind, text: name, codes: readCodes(value.code), ageDays: ageDays(reading, latest) };
  return {
    kind,
    text: said,
    entry: latest,
    also: before,
    codes: about.codes,
    score: raiseForRequest(score, focus, about),
    members: {
      ...codeMembers(value.code, name),
      value: number?.value ?? null,
      unit: number?.unit ?? null,
      value_text: valueIn(value) ?? null,
      flag: flag ?? null,
      range: range ?? null,
      ...(patterns.length === 0 ? {} : { patterns: patternMembers(patterns) }),
      trend:
        entries.length < 2
          ? null
          : {
              ...(statistics?.members ?? uncounted(entries)),
              points: before.map((entry) => ({
                date: entry.dated.date,
                value_text: valueIn(entry.value) ?? null,
                fhir: versionReference(entry),
              })),
            },
    },
  };
}

/** Returns whether a different entry has the same time as the newest entry in its series. */
function isBeside(entry: Entry, latest: Entry): boolean {
  if (entry.dated.at !== latest.dated.at || entry.id === latest.id) return false;
  const [own, newest] = [entry.dated.date, latest.dated.date];
  return own !== null && newest !== null && saysSame(own, newest);
}

/**
 * Returns, in words, the other values with the same time as the newest one, and how many such values weren't read; undefined
 * if all values were read and are equal.
 * @param further the number of such values that weren't read
 */
function sayBeside(same: readonly Entry[], further: number, latest: JsonObject): string | undefined {
  const newest = dropUnit(latest, latest);
  const others = [...new Set(same.map((entry) => dropUnit(entry.value, latest)))].filter(
    (text) => text !== newest,
  );
  const rest = further === 0 ? [] : [`${further} more ${further === 1 ? 'value' : 'values'}`];
  return others.length + rest.length === 0
    ? undefined
    : `with the same date also ${[...others, ...rest].join(', ')}`;
}

/** Returns the trend of values that aren't numbers. */
const uncounted = (entries: readonly Entry[]): JsonObject => ({
  count: entries.length,
  since: entries.at(-1)?.dated.date ?? null,
  compared: 0,
  min: null,
  max: null,
  change: null,
});

/** Returns a range without the unit, if both limits have the value's unit. */
function withoutUnit(range: string | undefined, unit: string): string | undefined {
  return unit === '' ? range : range?.replaceAll(` ${unit}`, '');
}

/** Returns a value without its unit, if the newest value has the same unit. */
function dropUnit(value: JsonObject, latest: JsonObject): string {
  const shown = valueIn(value) ?? judgementIn(value);
  const unit = unitIn(latest);
  return unit !== '' && unitIn(value) === unit ? shown.slice(0, -unit.length - 1) : shown;
}

/** Returns the number of values, if there are more than are shown; if there are at least four numbers, also their range. */
function countEarlier(
  entries: readonly Entry[],
  named: number,
  statistics: string | undefined,
): string | undefined {
  if (entries.length <= named) return undefined;
  if (statistics !== undefined && entries.length >= 4) return statistics;
  const oldest = entries.at(-1)?.dated.date;
  return `${entries.length} ${entries[0]?.isOnlyJudged === true ? 'judgements' : 'values'} since ${oldest?.slice(0, 4) ?? 'an unknown time'}`;
}

/** The range and the change are computed from this many of the newest values. */
const NEWEST = 100;

/** Returns the range and change of the newest numbers that have the newest value's unit. */
function summarizeNewest(
  entries: readonly Entry[],
  newest: ReturnType<typeof numberIn>,
  latest: JsonObject,
): { readonly text: string; readonly members: JsonObject } | undefined {
  if (newest === undefined) return undefined;
  const compared = entries.slice(0, NEWEST);
  const numbers = compared.flatMap(({ number }) => {
    const found = number === undefined ? undefined : parsedNumber(JSON.parse(number) as Json);
    return number === undefined ? [] : [found?.unit === newest.unit ? found.value : undefined];
  });
  const values = numbers.filter((value) => value !== undefined);
  const [min, max] = [Math.min(...values), Math.max(...values)];
  const oldest = entries.at(-1)?.dated.date;
  // Values can't be compared with these if they have another unit, or are only known to be below or above a limit.
  const of =
    values.length < compared.length
      ? `; ${values.length} ${newest.unit === '' ? 'plain numbers' : `in ${unitText(newest.unit)}`}`
      : entries.length > NEWEST
        ? `; last ${NEWEST}`
        : ',';
  const measured = { ...readMeasured(latest), unit: newest.unit };
  const ends = [min, max].map((end) => readingText(String(end), measured));
  const range = `${of} ${ends.join(' to ')}`;
  const [, before] = numbers;
  return {
    text: `${entries.length} values since ${oldest?.slice(0, 4) ?? 'an unknown time'}${range}`,
    members: {
      count: entries.length,
      since: oldest ?? null,
      compared: values.length,
      min,
      max,
      change: before === undefined ? null : rounded(newest.value - before),
    },
  };
}

function parsedNumber(value: Json): ReturnType<typeof numberIn> {
  return numberIn(isObject(value) ? { valueQuantity: value } : { valueInteger: value });
}

/** Returns the number without the excess digits of binary fractions. */
function rounded(value: number): number {
  return Number(value.toPrecision(12));
}
