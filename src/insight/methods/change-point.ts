/**
 * Tests for one change of level, with the maximally selected Wilcoxon statistic (Miller and Siegmund 1982, Lausen and
 * Schumacher 1992). The test considers all splits into an earlier and a later part that each have enough values; the change is
 * at the split with the largest standardised rank sum. The test is two-sided and uses midranks and the variance conditional on
 * the ranks (with ties), without a continuity correction. The p-value accounts for the choice of the split: it is the smaller
 * of the approximations by Lausen and Schumacher (1992) and by Lausen, Sauerbrei and Schumacher (1994). The statistic and the
 * approximations equal those of R's `maxstat::maxstat.test(smethod = "Wilcoxon")`, `pLausen92` and `pLausen94`.
 */
import { normalDensity, twoSided } from './distributions.ts';
import { rank } from './ranks.ts';

/** The split that was found. */
export interface ChangePoint {
  /** Number of values before the change. */
  readonly before: number;
  /** Standardised rank sum of the values before the change; negative if they are lower. */
  readonly z: number;
}

/**
 * Finds the split; undefined if there are fewer than `2 * least` values, or if all are equal.
 * @param least minimum number of values in each part
 */
export function changePoint(values: ArrayLike<number>, least: number): ChangePoint | undefined {
  const n = values.length;
  const { ranks } = rank(values);
  const spread = variance(ranks);
  if (n < 2 * least || spread === 0) return undefined;
  let sum = 0;
  let best: ChangePoint | undefined;
  for (let m = 1; m <= n - least; m += 1) {
    sum += ranks[m - 1] ?? 0;
    if (m < least) continue;
    const z = (sum - (m * (n + 1)) / 2) / Math.sqrt((spread * m * (n - m)) / n);
    if (best === undefined || Math.abs(z) > Math.abs(best.z)) best = { before: m, z };
  }
  return best;
}

/**
 * Returns the p-value for the largest |z|.
 * @param n number of values
 * @param least minimum number of values in each part
 */
export function changePointP(z: number, n: number, least: number): number {
  const b = Math.abs(z);
  return Math.min(lausen92(b, least / n, 1 - least / n), lausen94(b, n, least, n - least));
}

/**
 * Returns the approximation by Lausen and Schumacher (1992), equation 2.10, for splits at which the share of earlier values is
 * between `low` and `high`.
 */
export function lausen92(b: number, low: number, high: number): number {
  if (b < 1) return 1;
  const density = normalDensity(b);
  const p = (4 * density) / b + density * (b - 1 / b) * Math.log((high * (1 - low)) / ((1 - high) * low));
  return Math.min(1, Math.max(p, 0));
}

/**
 * Returns the improved Bonferroni bound by Lausen, Sauerbrei and Schumacher (1994), for `first` to `last` values before the
 * change.
 */
export function lausen94(b: number, n: number, first: number, last: number): number {
  let further = 0;
  for (let m = first; m < last; m += 1) {
    const t = Math.sqrt(1 - (m * (n - m - 1)) / ((n - m) * (m + 1)));
    further += (Math.exp((-b * b) / 2) / Math.PI) * (t - ((b * b) / 4 - 1) * (t ** 3 / 6));
  }
  return Math.min(1, Math.max(0, twoSided(b) + further));
}

/** Returns the variance of ranks, divided by n − 1. */
function variance(ranks: Float64Array): number {
  const n = ranks.length;
  const mean = (n + 1) / 2;
  return ranks.reduce((sum, each) => sum + (each - mean) ** 2, 0) / (n - 1);
}
