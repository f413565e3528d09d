/** Detects gaps: periods without a value that are long compared with the series' usual intervals. */
import { quantileSorted } from 'simple-statistics';
import { type Detected, makeEvidence, roundConfidence, roundToSix } from '../finding.ts';
import { normalQuantile, normalTail } from '../methods/distributions.ts';
import { DAY, type Point, type Track } from '../track.ts';
import { LEAST } from './levels.ts';

/** The method's name. */
export const GAP_METHOD =
  'Interval of at least 4 medians, and beyond the fence of the logarithms of all intervals (quartiles, normal tail)';

/** Values closer together than this belong to one occasion. */
const OCCASION = DAY / 4;
/** Minimum length of a gap, as a multiple of the median interval. */
const LEAST_RATIO = 4;
/** Maximum number of gaps reported for a series; the longest are reported. */
const MOST = 3;
/** Distance between the quartiles of a standard normal distribution. */
const QUARTILES = 1.3489795003921634;
/** Minimum standard deviation of the logarithms, for series whose intervals are all equal. */
const LEAST_SPREAD = 0.1;

/** An interval between two occasions. */
interface Interval {
  readonly from: Point;
  readonly to: Point;
  readonly days: number;
}

/**
 * Looks for gaps between values.
 * @param level probability that, in a series without gaps, any interval is mistaken for a gap
 */
export function findGaps(track: Track, level: number): Detected[] {
  const intervals = listIntervals(track.points);
  if (intervals.length < LEAST.gap) return [];
  const sorted = intervals.map(({ days }) => Math.log(days)).sort((a, b) => a - b);
  const [lower, middle, upper] = [0.25, 0.5, 0.75].map((q) => quantileSorted(sorted, q));
  if (lower === undefined || middle === undefined || upper === undefined) return [];
  const spread = Math.max((upper - lower) / QUARTILES, LEAST_SPREAD);
  // The upper quartile is 0.674 standard deviations above the median.
  const deviation = (days: number): number => (Math.log(days) - upper) / spread + QUARTILES / 2;
  const least = -normalQuantile(level / intervals.length);
  return intervals
    .filter(({ days }) => deviation(days) >= least && Math.log(days) >= middle + Math.log(LEAST_RATIO))
    .sort((a, b) => b.days - a.days || a.from.at - b.from.at)
    .slice(0, MOST)
    .map(({ from, to, days }) => ({
      kind: 'gap',
      codes: track.codes,
      direction: null,
      effect: { value: roundToSix(days), unit: 'd', low: null, high: null },
      confidence: roundConfidence(Math.min(1, intervals.length * normalTail(deviation(days)))),
      method: GAP_METHOD,
      window: { from: from.date, to: to.date },
      pieces: () => [makeEvidence(from, track.unit, true), makeEvidence(to, track.unit, true)],
    }));
}

function listIntervals(points: readonly Point[]): Interval[] {
  const intervals: Interval[] = [];
  for (const [n, to] of points.entries()) {
    const from = points[n - 1];
    if (from !== undefined && to.at - from.at >= OCCASION)
      intervals.push({ from, to, days: (to.at - from.at) / DAY });
  }
  return intervals;
}
