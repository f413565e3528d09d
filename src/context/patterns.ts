/**
 * Finds trends and changes in a record's findings, for contexts. The methods are the same as for patterns (docs/patterns.md).
 */

import { unitText } from '#src/clinical/reading/numbers/quantity.ts';
import { findCourses } from '#src/insight/find.ts';
import type { Finding } from '#src/insight/finding.ts';
import { makeTrack } from '#src/insight/measurement.ts';
import { DAY, MOST_SAMPLES, type Point, type Track, withoutCopies } from '#src/insight/track.ts';
import { writeBriefPredicate } from '#src/insight/wording.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { inSlices, type Steps } from '#src/shared/load/slices.ts';
import type { Entry } from './record.ts';
import type { Series } from './series.ts';
import { numberIn } from './value.ts';

/** Trends and changes by series. */
export type Patterns = ReadonlyMap<Series, readonly Finding[]>;

/** The minimum number of values that a series must have to be examined. */
const LEAST = 12;
/** The number of values that are read per step. */
const STEP = 500;
/** The maximum number of versions that an item names as evidence; further versions are only counted. */
const MOST_NAMED = 20;

/** The findings in one record, on one day. */
interface Found {
  readonly today: number;
  readonly each: Promise<readonly (readonly Finding[])[]>;
}

/** Findings in opened records; each series of a record is examined at most once a day. */
const known = new WeakMap<readonly Entry[], Found>();

/**
 * Finds trends and changes, in slices. Values dated after the day of the context, and copies of the same value, aren't
 * counted.
 * @param observations the observations of the series; earlier findings in the same list are reused
 * @param today the day of the context, in milliseconds since 1970; other time zones may be a day ahead
 */
export async function findPatterns(
  observations: readonly Entry[],
  series: readonly Series[],
  today: number,
): Promise<Patterns> {
  const before = known.get(observations);
  const found = before?.today === today ? before : { today, each: inSlices(courses(series, today)) };
  known.set(observations, found);
  const each = await found.each;
  return new Map(series.map((one, n) => [one, each[n] ?? []]));
}

function* courses(series: readonly Series[], today: number): Steps<readonly (readonly Finding[])[]> {
  const tracks: Track[] = [];
  for (const { entries } of series) tracks.push(yield* trackOfEntries(entries, today + DAY));
  return yield* findCourses(tracks);
}

function* trackOfEntries(entries: readonly Entry[], last: number): Steps<Track> {
  const byUnit = new Map<string | null, Point[]>();
  // In a long series, the same values recur, so parsed values are cached.
  const read = new Map<string, Measured | undefined>();
  for (const [n, entry] of (entries.length < LEAST ? [] : entries).entries()) {
    if (n % STEP === 0) yield;
    const { number, dated } = entry;
    if (number === undefined || dated.date === null || dated.at > last) continue;
    if (!read.has(number)) read.set(number, readMeasured(number));
    const measured = read.get(number);
    if (measured === undefined) continue;
    const unit = measured.unit === '' ? null : measured.unit;
    // The author doesn't matter, because an AI's entries aren't among the facts.
    const source = {
      fhir: `${entry.type}/${entry.id}`,
      version: entry.version,
      authorType: 'import',
    } as const;
    // A literal without spreads, because a series may have thousands of points.
    const point: Point = {
      date: dated.date,
      at: dated.at,
      offset: 0,
      value: measured.value,
      bound: null,
      low: null,
      high: null,
      source,
    };
    const before = byUnit.get(unit);
    if (before === undefined) byUnit.set(unit, [point]);
    else before.push(point);
  }
  const { track } = yield* makeTrack([], byUnit, () => undefined);
  return { ...track, points: withoutCopies(track.points) };
}

/** A number and its unit; the unit is empty if there is none. */
type Measured = ReturnType<typeof numberIn>;

function readMeasured(number: string): Measured {
  const said = JSON.parse(number) as Json;
  return numberIn(isObject(said) ? { valueQuantity: said } : { valueInteger: said });
}

/**
 * Returns the words that follow a finding's values, such as `fell by about 2.3 %`. The text with the values already says since
 * when there have been values. A trend repeats this only if the trend covers just the newest of very many values.
 * @param count number of values in the series
 */
export function describePatterns(found: readonly Finding[], count: number): string | undefined {
  if (found.length === 0) return undefined;
  return found.map((each) => writeBriefPredicate(each, count > MOST_SAMPLES, unitText)).join('; ');
}

/** Returns trends and changes as members of an item, with the newest versions that are their evidence. */
export function patternMembers(found: readonly Finding[]): JsonObject[] {
  return found.map(({ kind, direction, effect, confidence, method, window, evidence }) => ({
    ...{ kind, direction, confidence, method },
    effect: { ...effect },
    window: { ...window },
    evidence_count: evidence.length,
    evidence: evidence.slice(-MOST_NAMED).map(({ fhir, version, role }) => ({
      fhir: `${fhir}/_history/${version}`,
      role,
    })),
  }));
}
