/** Series, patterns and comparisons of a patient's record (docs/spec/decisions.md, section 4 "Series", "Patterns"). */
import { LRUCache } from 'lru-cache';
import type { Pool, PoolClient } from 'pg';
import { type Comparison, comparePeriods } from '#src/insight/compare.ts';
import type { Start } from '#src/insight/detect/starts.ts';
import { findPatterns } from '#src/insight/find.ts';
import type { Finding } from '#src/insight/finding.ts';
import type { MolarMassOf } from '#src/insight/measurement.ts';
import type { Coded, Point } from '#src/insight/track.ts';
import type { InsightWarning } from '#src/insight/warning.ts';
import type { Caller } from '#src/shared/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { inSlices } from '#src/shared/slices.ts';
import type { Micros } from '#src/shared/time.ts';
import { onConnection } from '../connection.ts';
import {
  type ReadTrack,
  readAll,
  readGroup,
  type Span,
  trackOfGroup,
  tracksOfAll,
  type Unsorted,
} from './read.ts';
import { type Standing, standingOf } from './rows.ts';
import { readStarts } from './starts.ts';

/** What is asked of a record. */
export interface Asked {
  readonly patient: string;
  readonly from?: Micros | undefined;
  readonly to?: Micros | undefined;
  /** The record as it was then. */
  readonly at?: Micros | undefined;
}

/** An answer; undefined if the caller doesn't see the patient. */
export interface Told<T> extends Pick<Standing, 'fresh'> {
  readonly told: T | undefined;
}

/** The patterns of a record. */
export interface Patterns {
  readonly findings: readonly Finding[];
  readonly warnings: readonly InsightWarning[];
  /** When the record last changed. */
  readonly changed: Micros;
}

/** A period, in moments [from, to). */
export interface Period {
  readonly from: Micros;
  readonly to: Micros;
}

/** A comparison, its unit, and what was left out. */
export interface Compared extends Comparison {
  readonly unit: string | null;
  readonly warnings: readonly InsightWarning[];
}

/**
 * Reads one track for each group of codes. As with the other questions here, `fresh` says whether the answer shows all
 * acknowledged writes.
 */
export type ReadSeries = (
  caller: Caller,
  asked: Asked,
  groups: readonly (readonly Coded[])[],
) => Promise<Told<ReadTrack[]>>;

/** Finds the patterns of a record. */
export type ReadPatterns = (caller: Caller, patient: string) => Promise<Told<Patterns>>;

/** Compares two periods of a group of codes. */
export type Compare = (
  caller: Caller,
  patient: string,
  what: { readonly group: readonly Coded[]; readonly a: Period; readonly b: Period },
) => Promise<Told<Compared>>;

/** Most versions that cached findings rest on, of all records together: some 12 MB. */
const MOST_CACHED = 60_000;
/** How long findings are cached after their last use, in ms: no longer than this after a purge. */
const CACHED_MS = 120_000;

const UNSEEN = { fresh: true, told: undefined } as const;

/** Opens series over a database. */
export function openSeries(pool: Pool, molarMass: MolarMassOf): ReadSeries {
  return async ({ sees }, { patient, ...span }, groups) => {
    if (!isUuid(patient)) return UNSEEN;
    return onConnection(pool, async (database) => {
      const { fresh, seen } = await standingOf(database, sees, patient);
      if (!seen) return { fresh, told: undefined };
      const told: ReadTrack[] = [];
      // One after another: of those that were read, only the track is held.
      for (const group of groups) {
        const unsorted = await readGroup(database, { sees, patient, ...span }, group);
        told.push(await inSlices(trackOfGroup(unsorted, group, molarMass)));
      }
      return { fresh, told };
    });
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
    const isIn = (period: Period) => (point: Point) =>
      point.at * 1000 >= period.from && point.at * 1000 < period.to;
    const compared = await inSlices(comparePeriods(track, { a: isIn(a), b: isIn(b) }));
    return { fresh, told: { ...compared, unit: track.unit, warnings } };
  };
}

/** Opens patterns over a database. */
export function openPatterns(pool: Pool, molarMass: MolarMassOf): ReadPatterns {
  const cache = new LRUCache<string, Patterns>({
    maxSize: MOST_CACHED,
    sizeCalculation: ({ findings }) => 20 + findings.reduce((sum, { evidence }) => sum + evidence.length, 0),
    ttl: CACHED_MS,
    ttlAutopurge: true,
  });
  return async ({ sees }, patient) => {
    if (!isUuid(patient)) return UNSEEN;
    const read = await onConnection(pool, (database) => readPatterns(database, { sees, patient }, cache));
    if (!('all' in read)) return read;
    const { tracks, warnings } = await inSlices(tracksOfAll(read.all, molarMass));
    const findings = await inSlices(findPatterns(tracks, read.starts));
    const told = { findings, warnings, changed: read.changed };
    if (read.key !== undefined) cache.set(read.key, told);
    return { fresh: read.fresh, told };
  };
}

/** What patterns are found in. */
interface PatternsRead {
  readonly fresh: boolean;
  /** Of the cache; undefined if they aren't cached. */
  readonly key: string | undefined;
  readonly all: Unsorted;
  readonly starts: readonly Start[];
  readonly changed: Micros;
}

/** Reads what patterns are found in, or cached patterns of the same state of the record. */
async function readPatterns(
  database: PoolClient,
  span: Span,
  cache: LRUCache<string, Patterns>,
): Promise<PatternsRead | Told<Patterns>> {
  const { sees, patient } = span;
  const { seen, changed, fresh } = await standingOf(database, sees, patient);
  if (!seen) return { fresh, told: undefined };
  // What is within a grant may change without the record.
  const key = sees.within === undefined && fresh ? `${sees.ownerId} ${patient} ${changed}` : undefined;
  const before = key === undefined ? undefined : cache.get(key);
  if (before !== undefined) return { fresh, told: before };
  const all = await readAll(database, span);
  const starts = await readStarts(database, span);
  return { fresh, key, all, starts, changed: changed ?? 0 };
}
