/**
 * Estimates a slope with the Theil–Sen estimator (Theil 1950, Sen 1968): the median of the slopes of all pairs with different
 * times. The interval is Sen's: order statistics of these slopes, derived from the variance of Kendall's S with ties. Equals
 * `scipy.stats.theilslopes(y, x, alpha)` in SciPy 1.10.
 */
import type { Steps } from '#src/shared/load/slices.ts';
import { normalQuantile } from './distributions.ts';
import { rank } from './ranks.ts';
import { aroundMedian, findMedian, medianSteps } from './select.ts';

/** A line through values: its slope per unit of time, and the slope's interval. */
export interface TheilSen {
  readonly slope: number;
  /** The line's value at time 0: the median of the values, minus the slope times the median of the times. */
  readonly intercept: number;
  /**
   * Returns the slope's interval, in steps.
   * @param inflation how much autocorrelation inflates the variance of S (`inflationOfTrend`)
   * @param level the interval's level, 0.95
   */
  interval(inflation?: number, level?: number): Steps<{ readonly low: number; readonly high: number }>;
}

/**
 * Estimates the slope, in steps.
 * @returns undefined if all times are equal
 */
export function* theilSen(times: ArrayLike<number>, values: ArrayLike<number>): Steps<TheilSen | undefined> {
  const n = values.length;
  const all = new Float64Array((n * (n - 1)) / 2);
  let count = 0;
  for (let i = 0; i < n; i += 1) {
    const [t, x] = [times[i] ?? 0, values[i] ?? 0];
    for (let j = i + 1; j < n; j += 1) {
      const span = (times[j] ?? 0) - t;
      if (span === 0) continue;
      all[count] = ((values[j] ?? 0) - x) / span;
      count += 1;
    }
    yield;
  }
  if (count === 0) return undefined;
  const slopes = all.subarray(0, count);
  const slope = yield* medianSteps(slopes);
  return {
    slope,
    intercept: findMedian(values) - slope * findMedian(times),
    *interval(inflation = 1, level = 0.95) {
      const sigma = Math.sqrt(inflation * kendallVariance(n, times, values));
      const z = -normalQuantile((1 - level) / 2);
      const upper = Math.min(roundEven((count + z * sigma) / 2), count - 1);
      const lower = Math.max(roundEven((count - z * sigma) / 2) - 1, 0);
      return yield* aroundMedian(slopes, lower, upper);
    },
  };
}

function kendallVariance(n: number, times: ArrayLike<number>, values: ArrayLike<number>): number {
  const ties = [times, values].flatMap((each) => rank(each).ties);
  const less = ties.reduce((sum, t) => sum + t * (t - 1) * (2 * t + 5), 0);
  return Math.max(0, (n * (n - 1) * (2 * n + 5) - less) / 18);
}

/** Rounds halves to the nearest even number, as NumPy does. */
function roundEven(value: number): number {
  const floor = Math.floor(value);
  if (value - floor !== 0.5) return Math.round(value);
  return floor % 2 === 0 ? floor : floor + 1;
}
