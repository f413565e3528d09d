/** Compares values before and after a medication's start. */
import type { Steps } from '#src/shared/load/slices.ts';
import { type Detected, type Evidence, roundConfidence } from '../finding.ts';
import { autocorrelation, inflationOfMean } from '../methods/autocorrelation.ts';
import { hodgesLehmann } from '../methods/hodges-lehmann.ts';
import { mannWhitney } from '../methods/mann-whitney.ts';
import { findMedian } from '../methods/select.ts';
import type { Coded, Sample, Source } from '../track.ts';
import { effectOfShift, evidenceOfSamples, isBeyond, timeWindow } from './fitted.ts';
import { LEAST } from './levels.ts';
import type { Sampled } from './pairs.ts';

/** The method's name. */
export const START_METHOD =
  'Mann–Whitney (asymptotic, continuity and ties corrected, variance inflated by autocorrelation) of a year before and after the start, with Hodges–Lehmann shift';

/** Number of days before and after the start. */
const WINDOW = 365;

/** The start of a medication. */
export interface Start {
  readonly code: Coded;
  /** The date as written in the resource. */
  readonly date: string;
  /** Days since 1970, in UTC. */
  readonly time: number;
  readonly source: Source;
}

/** The values of a series before and after a start. */
interface Around extends Sampled {
  readonly start: Start;
  readonly before: readonly Sample[];
  readonly after: readonly Sample[];
}

/**
 * Compares each series' values before and after each start.
 * @param level for all starts and series that have enough values
 */
export function* compareStarts(
  sampled: readonly Sampled[],
  starts: readonly Start[],
  level: number,
): Steps<Detected[]> {
  const all: Around[] = [];
  for (const start of starts) {
    for (const { track, samples } of sampled) {
      const near = samples.filter(({ time }) => Math.abs(time - start.time) <= WINDOW);
      const before = near.filter(({ time }) => time < start.time);
      const after = near.filter(({ time }) => time >= start.time);
      if (before.length >= LEAST.start && after.length >= LEAST.start)
        all.push({ track, samples: near, start, before, after });
      yield;
    }
  }
  const found: Detected[] = [];
  for (const around of all) {
    const detected = yield* associated(around, level / all.length);
    if (detected !== undefined) found.push(detected);
  }
  return found;
}

function* associated(around: Around, level: number): Steps<Detected | undefined> {
  const { track, start, samples, before, after } = around;
  const [a, b] = [before.map(({ value }) => value), after.map(({ value }) => value)];
  const [from, to] = [findMedian(a), findMedian(b)];
  const residuals = [...a.map((value) => value - from), ...b.map((value) => value - to)];
  const inflation = inflationOfMean(autocorrelation(residuals));
  const { p } = mannWhitney(a, b, inflation);
  yield;
  if (p >= level || from === to) return undefined;
  const shift = yield* hodgesLehmann(a, b, 0.95, inflation);
  const middle = (from + to) / 2;
  const isUp = to > from;
  const supports = isBeyond(samples, before.length, middle, isUp);
  const { fhir, version, authorType } = start.source;
  const medication: Evidence = {
    ...{ fhir, version, at: start.date, value: null, comparator: null, unit: null, author_type: authorType },
    role: 'supports',
  };
  return {
    kind: 'correlation',
    codes: [start.code, ...track.codes.slice(0, 1)],
    direction: isUp ? 'up' : 'down',
    effect: effectOfShift(shift, track, start.date),
    confidence: roundConfidence(p),
    method: START_METHOD,
    window: timeWindow(track, samples),
    *pieces() {
      yield medication;
      yield* evidenceOfSamples(track, samples, supports);
    },
  };
}
