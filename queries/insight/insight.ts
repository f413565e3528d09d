/** Series and comparisons from a patient's record (docs/spec/decisions.md, section 4 "Series", "Patterns"). */
import type { Pool } from 'pg';
import { type Comparison, comparePeriods } from '#src/insight/compare.ts';
import type { Finding } from '#src/insight/finding.ts';
import type { MolarMassOf } from '#src/insight/measurement.ts';
import { type Coded, type Point, withoutCopies } from '#src/insight/track.ts';
import { beyond, type InsightWarning } from '#src/insight/warning.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { inSlices } from '#src/shared/load/slices.ts';
import { readDays } from '#src/shared/time/day.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { onConnection } from '../database/connection.ts';
import type { DayRange } from '../day-scans.ts';
import { type ReadTrack, readGroup, trackOfGroup } from './read.ts';
import { readStanding, type Standing } from './rows.ts';

/** A request about a record. */
export interface Asked extends DayRange {
  readonly patient: string;
}

/** A result; undefined if the caller can't see the patient. */
export interface Told<T> extends Pick<Standing, 'fresh'> {
  readonly told: T | undefined;
}

/** A record's patterns. */
export interface Patterns {
  readonly findings: readonly Finding[];
  /** The names that the record gives codes, by `system|code`. */
  readonly names: ReadonlyMap<string, string>;
  readonly warnings: readonly InsightWarning[];
  /** When the record last changed. */
  readonly changed: Micros;
}

/** A period: its first and last day, as numbers of days since 1970. */
export interface Period {
  readonly from: number;
  readonly to: number;
}

/** A comparison, its unit, and how many values were left out. */
export interface Compared extends Comparison {
  readonly unit: string | null;
  readonly warnings: readonly InsightWarning[];
}

/**
 * Reads one track for each group of codes. As in the other queries in this file, `fresh` says whether the result shows all
 * acknowledged writes.
 */
export type ReadSeries = (
  caller: Caller,
  asked: Asked,
  groups: readonly (readonly Coded[])[],
) => Promise<Told<ReadTrack[]>>;

/**
 * Finds a record's patterns.
 * @param isGone returns true if the client has disconnected, in which case the work stops
 * @throws Refusal too_large (413, `too-costly`) if it takes too long; unavailable (503) if the caller's turn doesn't come in
 * time, or if the client has disconnected
 */
export type ReadPatterns = (
  caller: Caller,
  patient: string,
  isGone?: () => boolean,
) => Promise<Told<Patterns>>;

/** Compares two periods for a group of codes. */
export type Compare = (
  caller: Caller,
  patient: string,
  what: { readonly group: readonly Coded[]; readonly a: Period; readonly b: Period },
) => Promise<Told<Compared>>;

const UNSEEN = { fresh: true, told: undefined } as const;

/** Creates the series query on a database. */
export function openSeries(pool: Pool, molarMass: MolarMassOf): ReadSeries {
  return async ({ sees }, { patient, ...span }, groups) => {
    if (!isUuid(patient)) return UNSEEN;
    const { fresh, seen } = await onConnection(pool, (database) => readStanding(database, sees, patient));
    if (!seen) return { fresh, told: undefined };
    const told: ReadTrack[] = [];
    // One group after another, so that only the tracks of earlier groups stay in memory. While a track is being built, other
    // requests can use the connection.
    for (const group of groups) {
      const unsorted = await onConnection(pool, (database) =>
        readGroup(database, { sees, patient, ...span }, group),
      );
      told.push(await inSlices(trackOfGroup(unsorted, molarMass)));
    }
    return { fresh, told };
  };
}

/** Opens comparisons. */
export function openCompare(series: ReadSeries): Compare {
  return async (caller, patient, { group, a, b }) => {
    const asked = { patient, from: Math.min(a.from, b.from), to: Math.max(a.to, b.to) };
    const { fresh, told } = await series(caller, asked, [group]);
    const [read] = told ?? [];
    if (read === undefined) return { fresh, told: undefined };
    const { track, warnings } = read;
    // Only a part of a month or a year may be in a period. In that case it isn't known whether the value belongs to the
    // period.
    const isIn = (period: Period) => (point: Point) => {
      const { first, last } = readDays(point.date);
      return first >= period.from && last <= period.to;
    };
    const points = withoutCopies(track.points);
    const isPartly = (point: Point): boolean => {
      const { first, last } = readDays(point.date);
      const overlaps = (period: Period): boolean =>
        last >= period.from && first <= period.to && !isIn(period)(point);
      return overlaps(a) || overlaps(b);
    };
    const compared = await inSlices(comparePeriods({ ...track, points }, { a: isIn(a), b: isIn(b) }));
    const vague = beyond("left out: the date doesn't say in which period", points.filter(isPartly).length);
    return { fresh, told: { ...compared, unit: track.unit, warnings: [...warnings, ...vague] } };
  };
}
