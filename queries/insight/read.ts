/** Reads tracks: the values of one code or group of codes, or of all codes in a record. */
import type { PoolClient } from 'pg';
import { withoutIds } from '#src/fhir/search/text.ts';
import { type MolarMassOf, makeTrack } from '#src/insight/measurement.ts';
import { type Coded, countSameTime, DAY, type Point, type Track, withoutCopies } from '#src/insight/track.ts';
import { type InsightWarning, makeWarnings, type Tally } from '#src/insight/warning.ts';
import type { Sees } from '#src/shared/access/caller.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { codedValue, nameList } from '#src/v1/lists.ts';
import type { DayRange } from '../day-scans.ts';
import { countLeftOut, type LeftOut, type ReadRow, type RowsOf, readRows } from './rows.ts';
import { type CodedNumber, makePoint, numbersIn } from './values.ts';

/** The record and the days to read. */
export interface Span extends DayRange {
  readonly sees: Sees;
  readonly patient: string;
}

/** A track, and how many values were left out of it. */
export interface ReadTrack {
  readonly track: Track;
  /** The name of the first code in the newest value's resource; undefined if no resource names it. */
  readonly name: string | undefined;
  readonly warnings: readonly InsightWarning[];
}

/** The values of one code, or of a group of codes. */
interface Values {
  readonly codes: readonly Coded[];
  /** In no order. */
  readonly byUnit: Map<string | null, Point[]>;
  /** The name that the newest resource with a name gives to the first code. */
  named?: { readonly at: Micros; readonly name: string };
}

/** Values and counts as read. */
export interface Unsorted {
  /** One element for a group of codes, otherwise one per code. */
  readonly values: readonly Values[];
  readonly leftOut: LeftOut &
    Pick<Tally, 'withoutResult' | 'byAi' | 'undated' | 'long' | 'future' | 'notNumber' | 'preliminary'>;
  /** When the newest of the versions read was recorded; null if there were none. */
  readonly newest: Micros | null;
}

/** Reads the values for a group of codes: from Observations that have one of the codes, and from components that have one. */
export async function readGroup(
  database: PoolClient,
  span: Span,
  group: readonly Coded[],
): Promise<Unsorted> {
  const lists = group.flatMap(({ system, code }) => {
    const value = codedValue(system, code);
    return [nameList('Observation', ['code', value]), nameList('Observation', ['component', value])];
  });
  const values: Values = { codes: group, byUnit: new Map() };
  const isAsked = ({ system, code }: CodedNumber, n: number): boolean => {
    const asked = group[n];
    return asked?.system === system && asked.code.toLowerCase() === code.toLowerCase();
  };
  const stated = new Set<string>();
  // Each code has two lists: Observations that have the code, and Observations with a component that has it.
  const findPlace = (each: CodedNumber, { list, fhir }: ReadRow): Values | undefined => {
    if (each.isPart) return list % 2 === 1 && isAsked(each, list >> 1) ? values : undefined;
    if (list % 2 === 1 || stated.has(fhir)) return undefined;
    // An Observation with several of the group's codes contributes its own value only once.
    if (group.length > 1) stated.add(fhir);
    return values;
  };
  const counts = await read(database, { ...span, type: 'Observation', lists }, findPlace, true);
  return { values: [values], ...counts };
}

/** Reads the values in all of a record's Observations, by code. */
export async function readAll(database: PoolClient, span: Span): Promise<Unsorted> {
  const bySystem = new Map<string, Map<string, Values>>();
  const of = { ...span, type: 'Observation', lists: [nameList('Observation')] } as const;
  const findPlace = ({ system, code }: CodedNumber): Values => {
    const ofSystem = got(bySystem, system, () => new Map<string, Values>());
    return got(ofSystem, code, () => ({ codes: [{ system, code }], byUnit: new Map() }));
  };
  const counts = await read(database, of, findPlace, false);
  return { values: [...bySystem.values()].flatMap((codes) => [...codes.values()]), ...counts };
}

/**
 * Reads numbers, and counts the values that are left out.
 * @param findPlace returns where a number belongs; undefined if it belongs nowhere
 * @param isGroup true if all versions have codes that were requested, so that versions without a number are counted
 */
async function read(
  database: PoolClient,
  of: RowsOf,
  findPlace: (number: CodedNumber, row: ReadRow) => Values | undefined,
  isGroup: boolean,
): Promise<Pick<Unsorted, 'leftOut' | 'newest'>> {
  let newest: Micros | null = null;
  const counts = { withoutResult: 0, byAi: 0, undated: 0, long: 0, future: 0, preliminary: 0 };
  const counted = new Set<string>();
  /** Versions that are in a list but have no number for it, and versions that have a number in a different list. */
  const [without, placed] = [new Set<string>(), new Set<string>()];
  await readRows(database, of, (row) => {
    const { author, fields, date, fhir, since } = row;
    newest = Math.max(newest ?? since, since);
    if (author !== 'ai' && fields !== undefined && date !== null) {
      const { numbers, withoutResult, preliminary } = numbersIn(fields);
      if (withoutResult) {
        if (numbers.length > 0 && !counted.has(fhir)) counts.withoutResult += 1;
        counted.add(fhir);
        return;
      }
      if (row.at > since + MICROS_OF_DAY) {
        if (numbers.length > 0 && !counted.has(fhir)) counts.future += 1;
        counted.add(fhir);
        return;
      }
      let count = 0;
      for (const number of numbers) {
        const place = findPlace(number, row);
        if (place === undefined) continue;
        count += 1;
        got(place.byUnit, number.unit, () => []).push(makePoint(row, date, number));
        noteName(place, number, row.at);
      }
      if (count === 0) without.add(fhir);
      else if (of.lists.length > 1 && row.list > 0) placed.add(fhir);
      if (preliminary) counts.preliminary += count;
    } else if (!counted.has(fhir)) {
      counted.add(fhir);
      counts[author === 'ai' ? 'byAi' : fields === undefined ? 'long' : 'undated'] += 1;
    }
  });
  const apart = await countLeftOut(database, of);
  const notNumber = isGroup ? [...without].filter((each) => !placed.has(each)).length : 0;
  return { leftOut: { ...counts, ...apart, notNumber, byAi: counts.byAi + apart.byAi }, newest };
}

/**
 * Remembers the name that a resource gives to the first code. Among names from the same time, the one that comes first
 * alphabetically is used.
 */
function noteName(values: Values, { system, code, display }: CodedNumber, at: Micros): void {
  const { codes, named } = values;
  const [first] = codes;
  if (display === null || (named !== undefined && named.at > at)) return;
  if (first?.system !== system || first.code.toLowerCase() !== code.toLowerCase()) return;
  if (named === undefined || named.at < at || display < named.name) values.named = { at, name: display };
}

/** Returns a map's entry, creating it if it is missing. */
function got<K, V>(map: Map<K, V>, key: K, make: () => V): V {
  const before = map.get(key);
  if (before !== undefined) return before;
  const made = make();
  map.set(key, made);
  return made;
}

/** Builds the track for a group of codes, in steps. */
export function* trackOfGroup({ values, leftOut }: Unsorted, molarMass: MolarMassOf): Steps<ReadTrack> {
  const [{ codes, byUnit, named } = { codes: [], byUnit: new Map(), named: undefined }] = values;
  const { track, unconverted } = yield* makeTrack(codes, byUnit, molarMass);
  return {
    track,
    name: named?.name,
    warnings: makeWarnings({
      ...leftOut,
      ...countBounded(track),
      sameTime: countSameTime(track),
      copies: track.points.length - withoutCopies(track.points).length,
      unconverted,
    }),
  };
}

/**
 * Builds the tracks for all codes, in code order, and the names that the record gives to them, by `system|code`. Works in
 * steps.
 */
export function* tracksOfAll(
  { values, leftOut }: Unsorted,
  molarMass: MolarMassOf,
): Steps<{ tracks: Track[]; names: Map<string, string>; warnings: InsightWarning[] }> {
  // Findings are listed in this order, which must not reveal ids that are hidden from an application (docs/spec/decisions.md,
  // section 1).
  const orderKey = ({ codes: [first] }: Values): string => withoutIds(`${first?.system}|${first?.code}`);
  const tracks: Track[] = [];
  const names = new Map<string, string>();
  const units: InsightWarning[] = [];
  let [bounded, copies] = [0, 0];
  for (const { codes, byUnit, named } of values.toSorted(
    (a, b) => inOrder([orderKey(a), orderKey(b)]) || inOrder([firstObservation(a), firstObservation(b)]),
  )) {
    const { track: whole, unconverted } = yield* makeTrack(codes, byUnit, molarMass);
    const track = { ...whole, points: withoutCopies(whole.points) };
    copies += whole.points.length - track.points.length;
    tracks.push(track);
    for (const { system, code } of codes) if (named !== undefined) names.set(`${system}|${code}`, named.name);
    bounded += countBounded(track).bounded;
    units.push(...makeWarnings({ ...NOTHING, unit: track.unit, unconverted }));
    yield;
  }
  return {
    tracks,
    names,
    warnings: [...makeWarnings({ ...NOTHING, ...leftOut, bounded, copies }), ...units],
  };
}

function inOrder([one = '', other = '']: readonly string[]): number {
  return one < other ? -1 : one > other ? 1 : 0;
}

/**
 * Returns the Observation with the lowest id among the values, so that the result doesn't depend on the order in which they
 * were read.
 */
function firstObservation({ byUnit }: Values): string {
  let first = '~';
  for (const points of byUnit.values())
    for (const { source } of points) if (source.fhir < first) first = source.fhir;
  return first;
}

/** Because of time zone offsets, a value's time may be up to a day ahead of the clock in UTC. */
const MICROS_OF_DAY = DAY * 1000;

/** The tally for the case that nothing was left out. */
const NOTHING: Tally = {
  ...{ withdrawn: 0, modified: 0, withoutResult: 0, byAi: 0, undated: 0, long: 0 },
  ...{ future: 0, notNumber: 0, preliminary: 0, copies: 0 },
  ...{ unconverted: new Map(), unit: null, bounded: 0, sameTime: 0 },
};

function countBounded({ unit, points }: Track): Pick<Tally, 'unit' | 'bounded'> {
  let bounded = 0;
  for (const { bound } of points) if (bound !== null) bounded += 1;
  return { unit, bounded };
}
