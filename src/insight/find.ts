/**
 * Finds the patterns in a record. Pure: the same values give the same findings, regardless of the order in which they arrived.
 */
import type { Steps } from '#src/shared/load/slices.ts';
import { fitChange } from './detect/change.ts';
import { findGaps } from './detect/gaps.ts';
import { LEAST, LEVELS } from './detect/levels.ts';
import { findPairs, MOST_SERIES, MOST_TOLD, type Sampled } from './detect/pairs.ts';
import { findRhythms } from './detect/rhythm.ts';
import { findRuns } from './detect/runs.ts';
import { compareStarts, type Start } from './detect/starts.ts';
import { fitTrend } from './detect/trend.ts';
import { type Detected, type Finding, makeFinding } from './finding.ts';
import { makeSamples, type Track } from './track.ts';
import { beyond, type InsightWarning } from './warning.ts';

/**
 * Maximum number of values that are compared with starts of medications, where each value counts once for each start. Above
 * this, only the newest starts are used. This limits memory use; a hundred starts with ten thousand values are within the
 * limit.
 */
const MOST_AROUND_STARTS = 1_000_000;

/** The patterns in a record, and how many values and findings were left out. */
export interface Found {
  readonly findings: readonly Finding[];
  readonly warnings: readonly InsightWarning[];
}

/**
 * Finds all patterns, in steps.
 * @param tracks tracks that have no codes in common; the findings are in the order of the tracks
 * @param starts starts of medications, oldest first
 */
export function* findPatterns(tracks: readonly Track[], starts: readonly Start[]): Steps<Found> {
  const sampled: Sampled[] = [];
  for (const track of tracks) {
    sampled.push({ track, samples: yield* makeSamples(track.points) });
    yield;
  }
  const tested = Math.max(1, sampled.filter(({ samples }) => samples.length >= LEAST.trend).length);
  const findings: Finding[] = [];
  const addFindings = function* (found: readonly Detected[]): Steps<void> {
    for (const detected of found) {
      findings.push(yield* makeFinding(detected));
      yield;
    }
  };
  for (const { track, samples } of sampled) {
    yield* addFindings(yield* fitCourse({ track, samples }, tested));
    yield* addFindings(findRuns(track));
    yield* addFindings(findGaps(track, LEVELS.gap / tested));
    yield* addFindings(yield* findRhythms(track, LEVELS.rhythm / (2 * tested)));
  }
  const paired = yield* findPairs(sampled, LEVELS.pair);
  yield* addFindings(paired.found);
  const newest = newestStarts(starts, sampled);
  const started = yield* compareStarts(sampled, newest, LEVELS.start);
  const chosen = surest(started);
  yield* addFindings(chosen);
  return {
    findings,
    warnings: [
      ...beyond(`not paired: series beyond the ${MOST_SERIES} with the most values`, paired.unpaired),
      ...beyond(`not told: correlations of series beyond the ${MOST_TOLD} strongest`, paired.untold),
      ...beyond('not compared: earlier starts of medications', starts.length - newest.length),
      ...beyond(
        `not told: correlations with medications beyond ${MOST_TOLD}`,
        started.length - chosen.length,
      ),
    ],
  };
}

/** Returns as many of the newest starts as `MOST_AROUND_STARTS` allows for the given series. */
function newestStarts(starts: readonly Start[], sampled: readonly Sampled[]): readonly Start[] {
  const values = sampled.reduce((sum, { samples }) => sum + samples.length, 0);
  return starts.slice(-Math.max(1, Math.floor(MOST_AROUND_STARTS / Math.max(1, values))));
}

/**
 * Returns the findings with the highest confidence, in their original order; among equally confident findings, the last ones.
 */
function surest(found: readonly Detected[]): readonly Detected[] {
  const order = found.toReversed().sort((a, b) => b.confidence - a.confidence);
  const chosen = new Set(order.slice(0, MOST_TOLD));
  return found.filter((each) => chosen.has(each));
}

/** Finds only trends and changes, in each track separately, in steps. */
export function* findCourses(tracks: readonly Track[]): Steps<Finding[][]> {
  const sampled: Sampled[] = [];
  for (const track of tracks) sampled.push({ track, samples: yield* makeSamples(track.points) });
  const tested = Math.max(1, sampled.filter(({ samples }) => samples.length >= LEAST.trend).length);
  const found: Finding[][] = [];
  for (const each of sampled) {
    const findings: Finding[] = [];
    for (const detected of yield* fitCourse(each, tested)) findings.push(yield* makeFinding(detected));
    found.push(findings);
    yield;
  }
  return found;
}

/** Number of parameters that the position of a change counts as, because it was chosen as the best of many positions. */
const PLACE = 1.5;
/**
 * Minimum difference between two descriptions, in parameters, at which one of them is preferred: that one is then about twenty
 * times as likely.
 */
const DECIDED = 3;

/**
 * Returns a series' trend, its change, or both. If the tests find at least one of them, the series is described by the one
 * that leaves smaller differences, by Schwarz's criterion. It is described by both if both tests are significant and neither
 * description is clearly better.
 */
function* fitCourse({ track, samples }: Sampled, tested: number): Steps<Detected[]> {
  const trend = yield* fitTrend(track, samples);
  const change = fitChange(track, samples);
  yield;
  const isTrend = trend !== undefined && trend.p < LEVELS.trend / tested;
  const isChange = change !== undefined && change.p < LEVELS.change / tested;
  if (!isTrend && !isChange) return [];
  const n = samples.length;
  // Measured in parameters; positive if the trend is the better description.
  const better =
    trend === undefined || change === undefined
      ? undefined
      : (n * Math.log(change.misfit / trend.misfit)) / Math.log(n) + PLACE;
  const isOpen = better !== undefined && Math.abs(better) < DECIDED && isTrend && isChange;
  const chosen = better === undefined || isOpen ? [trend, change] : better > 0 ? [trend] : [change];
  const found: Detected[] = [];
  for (const each of chosen) if (each !== undefined) found.push(yield* each.describe());
  return found;
}
