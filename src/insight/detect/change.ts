/**
 * Detects changes of level. The split with the largest standardised rank sum determines when the level changed; the
 * Hodges–Lehmann shift determines by how much.
 */
import { roundConfidence } from '../finding.ts';
import { ASSUMED, autocorrelation, inflationOfMean } from '../methods/autocorrelation.ts';
import { changePoint, changePointP } from '../methods/change-point.ts';
import { normalOfStudent } from '../methods/distributions.ts';
import { hodgesLehmann } from '../methods/hodges-lehmann.ts';
import { findMedian } from '../methods/select.ts';
import type { Sample, Track } from '../track.ts';
import {
  effectOfShift,
  evidenceOfSamples,
  type Fitted,
  isBeyond,
  residual,
  scatter,
  timeWindow,
  WORTH_A_LOOK,
} from './fitted.ts';
import { LEAST } from './levels.ts';

/** The method's name. */
export const CHANGE_METHOD =
  'Maximally selected Wilcoxon statistic (ties corrected, Lausen–Schumacher) confirmed by the medians’ difference (Student, effective number of values) with Hodges–Lehmann shift';

/** Describes a series by one change of level; undefined if the series has too few values or shows no sign of a change. */
export function fitChange(track: Track, samples: readonly Sample[]): Fitted | undefined {
  const values = samples.map(({ value }) => value);
  const found = changePoint(values, LEAST.change);
  // The ranks are tested first, so that a few outliers aren't taken for a change.
  if (found === undefined || changePointP(found.z, values.length, LEAST.change) >= WORTH_A_LOOK)
    return undefined;
  const { before: count } = found;
  const [a, b] = [values.slice(0, count), values.slice(count)];
  const [before, after] = [findMedian(a), findMedian(b)];
  if (before === after) return undefined;
  const residuals = samples.map((sample, k) => residual(sample, k < count ? before : after));
  const inflation = inflationOfMean(autocorrelation(residuals));
  const n = values.length / inflationOfMean(autocorrelation(residuals, ASSUMED.course));
  const size = ((b.length * a.length) / values.length) * (after - before) ** 2;
  const t = Math.sqrt((Math.max(0, n - 2) * size) / sumOfSquares(residuals));
  const p = changePointP(normalOfStudent(t, Math.max(1, n - 2)), values.length, LEAST.change);
  return {
    p,
    misfit: scatter(a) + scatter(b),
    describe: function* () {
      const shift = yield* hodgesLehmann(a, b, 0.95, inflation);
      const isUp = after > before;
      const supports = isBeyond(samples, count, (before + after) / 2, isUp);
      return {
        kind: 'change_point',
        codes: track.codes,
        direction: isUp ? 'up' : 'down',
        effect: effectOfShift(shift, track, track.points[samples[count]?.first ?? 0]?.date ?? ''),
        confidence: roundConfidence(p),
        method: CHANGE_METHOD,
        window: timeWindow(track, samples),
        pieces: () => evidenceOfSamples(track, samples, supports),
      };
    },
  };
}

/** Residuals farther out than this, in robust standard deviations, are treated as if they were this far out. */
const FARTHEST = 3;

/** Returns the sum of the squared residuals, after limiting outliers to `FARTHEST`. */
function sumOfSquares(residuals: readonly number[]): number {
  const most = FARTHEST * 1.4826 * findMedian(residuals.map(Math.abs));
  const within = most > 0 ? residuals.map((each) => Math.min(most, Math.abs(each))) : residuals;
  return within.reduce((sum, each) => sum + each * each, 0);
}
