/**
 * Detects runs out of range: several consecutive values that are all above, or all below, the reference range stated with each
 * value.
 */
import { type Detected, makeEvidence, roundConfidence, roundToSix } from '../finding.ts';
import { findMedian } from '../methods/select.ts';
import { isLowerBound, isUpperBound, type Point, type Track } from '../track.ts';
import { LEAST } from './levels.ts';

/** The method's name. */
export const RUN_METHOD =
  'Run of values on one side of their own reference ranges (confidence as if each were as likely in range)';

/** Maximum number of runs reported for a series. The longest runs are reported; among equally long runs, the latest. */
const MOST = 3;

type Side = 'above' | 'below';

interface Run {
  readonly side: Side;
  readonly points: readonly Point[];
}

/**
 * Looks for runs. A run has at least four values, and at least the binary logarithm of the number of values in the series,
 * because longer series have longer runs by chance.
 */
export function findRuns(track: Track): Detected[] {
  const { points } = track;
  const least = Math.max(LEAST.run, Math.ceil(Math.log2(Math.max(1, points.length))));
  const runs: Run[] = [];
  for (let first = 0; first < points.length; ) {
    const side = findSide(points[first]);
    let end = first + 1;
    while (end < points.length && findSide(points[end]) === side) end += 1;
    if (side !== undefined && end - first >= least) runs.push({ side, points: points.slice(first, end) });
    first = end;
  }
  return runs
    .sort((a, b) => b.points.length - a.points.length || (b.points[0]?.at ?? 0) - (a.points[0]?.at ?? 0))
    .slice(0, MOST)
    .map((run) => reportRun(track, run));
}

/** Returns the side of its reference range on which a value certainly lies; undefined if that isn't certain. */
function findSide(point: Point | undefined): Side | undefined {
  if (point === undefined) return undefined;
  const { value, bound, low, high } = point;
  if (high !== null && !isUpperBound(bound) && (value > high || (bound === '>' && value >= high)))
    return 'above';
  if (low !== null && !isLowerBound(bound) && (value < low || (bound === '<' && value <= low)))
    return 'below';
  return undefined;
}

function reportRun(track: Track, { side, points }: Run): Detected {
  const beyond = points.map(({ value, low, high }) => value - ((side === 'above' ? high : low) ?? value));
  return {
    kind: 'out_of_range',
    codes: track.codes,
    direction: side,
    effect: { value: roundToSix(findMedian(beyond)), unit: track.unit, low: null, high: null },
    confidence: roundConfidence(0.5 ** points.length),
    method: RUN_METHOD,
    window: { from: points[0]?.date ?? '', to: points.at(-1)?.date ?? '' },
    *pieces() {
      for (const point of points) yield makeEvidence(point, track.unit, true);
    },
  };
}
