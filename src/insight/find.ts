/** Finds the patterns of a record. Pure: the same values give the same findings, in whatever order they came. */
import type { Steps } from '#src/shared/slices.ts';
import { changeOf } from './detect/change.ts';
import { gapsOf } from './detect/gaps.ts';
import { LEAST, LEVELS } from './detect/levels.ts';
import { pairsOf, type Sampled } from './detect/pairs.ts';
import { rhythmsOf } from './detect/rhythm.ts';
import { runsOf } from './detect/runs.ts';
import { type Start, startsOf } from './detect/starts.ts';
import { trendOf } from './detect/trend.ts';
import { type Detected, type Finding, findingOf } from './finding.ts';
import { samplesOf, type Track } from './track.ts';

/**
 * Finds all patterns, in steps.
 * @param tracks each of other codes; findings come in their order
 * @param starts of medications
 */
export function* findPatterns(tracks: readonly Track[], starts: readonly Start[]): Steps<Finding[]> {
  const sampled: Sampled[] = [];
  for (const track of tracks) {
    sampled.push({ track, samples: samplesOf(track.points) });
    yield;
  }
  const tested = Math.max(1, sampled.filter(({ samples }) => samples.length >= LEAST.trend).length);
  const found: Detected[] = [];
  for (const { track, samples } of sampled) {
    found.push(...(yield* courseOf({ track, samples }, tested)));
    found.push(...runsOf(track), ...gapsOf(track, LEVELS.gap / tested));
    found.push(...(yield* rhythmsOf(track, LEVELS.rhythm / (2 * tested))));
  }
  found.push(...(yield* pairsOf(sampled, LEVELS.pair)));
  found.push(...(yield* startsOf(sampled, starts, LEVELS.start)));
  const findings: Finding[] = [];
  for (const detected of found) {
    findings.push(findingOf(detected));
    yield;
  }
  return findings;
}

/** Finds trends and changes alone, of each track by itself, in steps. */
export function* findCourses(tracks: readonly Track[]): Steps<Finding[][]> {
  const sampled = tracks.map((track) => ({ track, samples: samplesOf(track.points) }));
  const tested = Math.max(1, sampled.filter(({ samples }) => samples.length >= LEAST.trend).length);
  const found: Finding[][] = [];
  for (const each of sampled) {
    found.push((yield* courseOf(each, tested)).map(findingOf));
    yield;
  }
  return found;
}

/** Parameters that a change's place counts as: it is the best of many. */
const PLACE = 1.5;
/** Difference between two descriptions, in parameters, that the values decide: about twenty times as likely. */
const DECIDED = 3;

/**
 * Returns the trend or the change of a series. If a test says that there is one, the series is described by that of the two
 * which leaves smaller differences, by Schwarz's criterion; by both if both tests say so and the values don't decide.
 */
function* courseOf({ track, samples }: Sampled, tested: number): Steps<Detected[]> {
  const trend = yield* trendOf(track, samples);
  const change = changeOf(track, samples);
  yield;
  const isTrend = trend !== undefined && trend.p < LEVELS.trend / tested;
  const isChange = change !== undefined && change.p < LEVELS.change / tested;
  if (!isTrend && !isChange) return [];
  const n = samples.length;
  // In parameters; positive if the trend is the better description.
  const better =
    trend === undefined || change === undefined
      ? undefined
      : (n * Math.log(change.misfit / trend.misfit)) / Math.log(n) + PLACE;
  const isOpen = better !== undefined && Math.abs(better) < DECIDED && isTrend && isChange;
  const told = better === undefined || isOpen ? [trend, change] : better > 0 ? [trend] : [change];
  const found: Detected[] = [];
  for (const each of told) if (each !== undefined) found.push(yield* each.describe());
  return found;
}
