/** Reads tracks: the values of one code or group of codes, or of all codes of a record. */
import type { PoolClient } from 'pg';
import { type MolarMassOf, trackOf } from '#src/insight/measurement.ts';
import type { Coded, Track } from '#src/insight/track.ts';
import { type InsightWarning, warningsOf } from '#src/insight/warning.ts';
import type { Sees } from '#src/shared/caller.ts';
import type { Steps } from '#src/shared/slices.ts';
import type { Micros } from '#src/shared/time.ts';
import { codedValue, listOf } from '#src/v1/lists.ts';
import { countLeftOut, type LeftOut, type ReadRow, type RowsOf, readRows } from './rows.ts';
import { type CodedMeasurement, measurementsIn } from './values.ts';

/** Where and when to read. */
export interface Span {
  readonly sees: Sees;
  readonly patient: string;
  readonly from?: Micros | undefined;
  readonly to?: Micros | undefined;
  readonly at?: Micros | undefined;
}

/** A track, and what was left out of it. */
export interface ReadTrack {
  readonly track: Track;
  readonly warnings: readonly InsightWarning[];
}

/** A version, of which only the numbers are kept. */
interface NumbersOf {
  readonly id: string;
  readonly list: number;
  readonly leftOut: 'byAi' | 'undated' | 'long' | undefined;
  readonly measurements: readonly CodedMeasurement[];
}

/** Versions and counts as they were read. */
export interface Unsorted {
  readonly rows: readonly NumbersOf[];
  readonly leftOut: LeftOut;
}

/** The numbers that are wanted, and how many versions are left out. */
interface Sorted {
  readonly measurements: readonly CodedMeasurement[];
  readonly byAi: number;
  readonly undated: number;
  readonly long: number;
}

/** Reads the rows of a group of codes: Observations that have one of them, themselves or in a component. */
export async function readGroup(
  database: PoolClient,
  span: Span,
  group: readonly Coded[],
): Promise<Unsorted> {
  const lists = group.flatMap(({ system, code }) => {
    const value = codedValue(system, code);
    return [listOf('Observation', ['code', value]), listOf('Observation', ['component', value])];
  });
  return read(database, { ...span, type: 'Observation', lists });
}

/** Reads the rows of all Observations of a record. */
export function readAll(database: PoolClient, span: Span): Promise<Unsorted> {
  return read(database, { ...span, type: 'Observation', lists: [listOf('Observation')] });
}

async function read(database: PoolClient, of: RowsOf): Promise<Unsorted> {
  const rows = await readRows(database, of, numbersOf);
  return { rows, leftOut: await countLeftOut(database, of) };
}

function numbersOf(row: ReadRow): NumbersOf {
  const { id, list, author, fields, date } = row;
  const leftOut =
    author === 'ai' ? 'byAi' : fields === undefined ? 'long' : date === null ? 'undated' : undefined;
  return { id, list, leftOut, measurements: leftOut === undefined ? measurementsIn(row) : [] };
}

/** Makes the track of a group of codes, in steps. */
export function* trackOfGroup(
  { rows, leftOut }: Unsorted,
  group: readonly Coded[],
  molarMass: MolarMassOf,
): Steps<ReadTrack> {
  const isAsked = ({ code }: CodedMeasurement, n: number): boolean => {
    const asked = group[n];
    return asked?.system === code.system && asked.code.toLowerCase() === code.code.toLowerCase();
  };
  // Of each code there are two lists: Observations that have it, and those of which a component has it.
  const parsed = yield* sorted(rows, (each, { list }) =>
    list % 2 === 0 ? !each.isPart : each.isPart && isAsked(each, list >> 1),
  );
  return madeOf(group, parsed, leftOut, molarMass);
}

/** Makes the tracks of all codes, in the order of codes, in steps. */
export function* tracksOfAll(
  { rows, leftOut }: Unsorted,
  molarMass: MolarMassOf,
): Steps<{ tracks: Track[]; warnings: InsightWarning[] }> {
  const parsed = yield* sorted(rows, () => true);
  const byCode = new Map<string, CodedMeasurement[]>();
  for (const each of parsed.measurements) {
    const key = `${each.code.system}|${each.code.code}`;
    const before = byCode.get(key);
    if (before === undefined) byCode.set(key, [each]);
    else before.push(each);
  }
  yield;
  const none = { measurements: [], byAi: 0, undated: 0, long: 0 };
  const made: ReadTrack[] = [];
  for (const [, measurements] of [...byCode].sort(([a], [b]) => (a < b ? -1 : 1))) {
    const codes = measurements.slice(0, 1).map(({ code }) => code);
    made.push(madeOf(codes, { ...none, measurements }, { modified: 0, withdrawn: 0 }, molarMass));
    yield;
  }
  const whole = madeOf([], { ...parsed, measurements: [] }, leftOut, molarMass);
  return {
    tracks: made.map(({ track }) => track),
    warnings: [
      ...whole.warnings,
      ...made.flatMap(({ warnings }) => warnings.filter(({ kind }) => kind === 'unit')),
    ],
  };
}

/** Returns the numbers that are wanted. An Observation that is in several lists states its own value once. */
function* sorted(
  rows: readonly NumbersOf[],
  isWanted: (each: CodedMeasurement, row: NumbersOf) => boolean,
): Steps<Sorted> {
  const [seen, stated] = [new Set<string>(), new Set<string>()];
  const counts = { byAi: 0, undated: 0, long: 0 };
  const measurements: CodedMeasurement[] = [];
  for (const row of rows) {
    if (row.leftOut !== undefined && !seen.has(row.id)) counts[row.leftOut] += 1;
    seen.add(row.id);
    for (const each of row.measurements) {
      if (!isWanted(each, row) || (!each.isPart && stated.has(row.id))) continue;
      if (!each.isPart) stated.add(row.id);
      measurements.push(each);
    }
    yield;
  }
  return { ...counts, measurements };
}

function madeOf(
  codes: readonly Coded[],
  { measurements, ...counts }: Sorted,
  leftOut: LeftOut,
  molarMass: MolarMassOf,
): ReadTrack {
  const { track, unconverted } = trackOf(codes, measurements, molarMass);
  const bounded = track.points.filter(({ bound }) => bound !== null).length;
  const warnings = warningsOf({ ...counts, ...leftOut, unconverted, unit: track.unit, bounded });
  return { track, warnings };
}
