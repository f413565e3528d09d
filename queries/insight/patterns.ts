/** Finds a record's patterns within limits on time and memory (docs/patterns.md, "Limits"). */
import { createHash } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import type { Pool, PoolClient } from 'pg';
import { Flights } from '#queries/database/flights.ts';
import type { Start } from '#src/insight/detect/starts.ts';
import { type Found, findPatterns } from '#src/insight/find.ts';
import type { MolarMassOf } from '#src/insight/measurement.ts';
import type { Track } from '#src/insight/track.ts';
import type { Caller } from '#src/shared/access/caller.ts';
import { isUuid } from '#src/shared/ids.ts';
import { inSlices, type Steps } from '#src/shared/load/slices.ts';
import { Refusal, unavailable } from '#src/shared/refusal.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { onConnection } from '../database/connection.ts';
import type { Patterns, ReadPatterns, Told } from './insight.ts';
import { readAll, type Span, tracksOfAll, type Unsorted } from './read.ts';
import { readStanding, type Standing } from './rows.ts';
import { type ReadStarts, readStarts } from './starts.ts';

/** The maximum number of values in cached findings, for all records together; they take about 40 MB. */
const MOST_CACHED = 100_000;
/** How long findings are cached after their last use, in ms. Findings of a purged record don't stay longer than this either. */
const CACHED_MS = 120_000;
/**
 * How long this process may work on a record's patterns, in ms, not counting the time in between that is given to other work.
 */
const WORK_MS = 20_000;
/** Number of values to hash per step. */
const STEP = 500;

/** The values in which patterns are found. */
interface Read {
  readonly all: Unsorted;
  readonly starts: ReadStarts;
}

/** Cached patterns. */
interface Kept {
  /** The findings in the values. */
  readonly found: Found;
  readonly told: Patterns;
}

/** Runs work when the caller's turn comes. */
export type Turn = <T>(caller: Caller, work: () => Promise<T>) => Promise<T>;

/** Creates the patterns query on a database. */
export function openPatterns(
  pool: Pool,
  molarMass: MolarMassOf,
  turn: Turn,
  workMs: number = WORK_MS,
): ReadPatterns {
  const cache = new LRUCache<string, Kept>({ maxSize: MOST_CACHED, ttl: CACHED_MS, ttlAutopurge: true });
  const asked = new Flights<Told<Patterns>>();
  const sought = new Flights<Found>();

  /** Reads the record, and finds its patterns unless patterns for the same values are cached. */
  const find = async (span: Span, isGone: () => boolean): Promise<Told<Patterns>> => {
    const { standing, read } = await onConnection(pool, (database) => readPatterns(database, span));
    const { fresh } = standing;
    if (read === undefined) return { fresh, told: undefined };
    const after = limit(workMs, isGone);
    const { tracks, names, warnings } = await inSlices(tracksOfAll(read.all, molarMass), after);
    const { starts } = read.starts;
    const key =
      cacheKey(span, standing) ??
      `${span.sees.ownerId} ${span.patient} ${await inSlices(hashTracks(tracks, starts), after)}`;
    const search = (areGone: () => boolean): Promise<Found> =>
      inSlices(findPatterns(tracks, starts), limit(workMs, areGone));
    const found = cache.get(key)?.found ?? (await sought.join(key, isGone, search));
    const told = {
      findings: found.findings,
      names: new Map([...read.starts.names, ...names]),
      warnings: [...warnings, ...found.warnings],
      changed: lastChange(span, standing, read),
    };
    const values = tracks.reduce((sum, { points }) => sum + points.length, 0);
    cache.set(key, { found, told }, { size: 1 + values + found.findings.length });
    return { fresh, told };
  };

  return async (caller, patient, isGone = () => false) => {
    if (!isUuid(patient)) return { fresh: true, told: undefined };
    const span = { sees: caller.sees, patient };
    const standing = await onConnection(pool, (database) => readStanding(database, span.sees, patient));
    const { fresh, seen } = standing;
    if (!seen) return { fresh, told: undefined };
    const key = cacheKey(span, standing);
    const search = (areGone: () => boolean): Promise<Told<Patterns>> =>
      turn(caller, () => find(span, areGone));
    if (key === undefined) return search(isGone);
    const before = cache.get(key);
    return before === undefined ? asked.join(key, isGone, search) : { fresh, told: before.told };
  };
}

/**
 * Returns when the record last changed, as far as the caller can see: under a grant, the result must not reveal changes to
 * other types and categories.
 */
function lastChange({ sees }: Span, { changed }: Standing, { all, starts }: Read): Micros {
  if (sees.within === undefined) return changed ?? 0;
  return Math.max(all.newest ?? 0, starts.newest ?? 0);
}

/** Reads the values in which patterns are found; returns no values if the caller can't see the patient. */
async function readPatterns(
  database: PoolClient,
  span: Span,
): Promise<{ readonly standing: Standing; readonly read?: Read }> {
  const standing = await readStanding(database, span.sees, span.patient);
  if (!standing.seen) return { standing };
  const all = await readAll(database, span);
  return { standing, read: { all, starts: await readStarts(database, span) } };
}

/** Returns the key under which patterns are cached; undefined if only the values themselves show whether they are the same. */
function cacheKey({ sees, patient }: Span, { fresh, changed }: Standing): string | undefined {
  // The resources that a grant covers may change without a change to the record.
  return sees.within === undefined && fresh ? `${sees.ownerId} ${patient} ${changed}` : undefined;
}

/** Returns a hash of all values in which patterns are found: the same values have the same hash. */
function* hashTracks(tracks: readonly Track[], starts: readonly Start[]): Steps<string> {
  const hash = createHash('sha256').update(JSON.stringify(starts));
  for (const { codes, unit, points } of tracks) {
    hash.update(JSON.stringify([codes, unit, points.length]));
    for (let from = 0; from < points.length; from += STEP) {
      hash.update(JSON.stringify(points.slice(from, from + STEP)));
      yield;
    }
  }
  return hash.digest('base64url');
}

/**
 * Returns a function to call with the duration of each slice of the work.
 * @throws Refusal (from the returned function) too_large (413, `too-costly`) once the total exceeds `most` ms; unavailable
 * (503) if nobody is waiting for the result
 */
function limit(most: number, isGone: () => boolean): (ms: number) => void {
  let took = 0;
  return (ms) => {
    took += ms;
    if (isGone()) throw unavailable('the client has closed the connection');
    if (took <= most) return;
    const diagnostics = `finding the patterns of this record takes longer than ${most / 1_000} s; read series of single codes instead: GET /v1/patients/{patient_id}/series?code=…`;
    throw new Refusal('too_large', { code: 'too-costly', diagnostics });
  };
}
