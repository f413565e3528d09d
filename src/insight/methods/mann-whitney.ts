/**
 * Compares two groups with the two-sided Mann–Whitney (Wilcoxon rank-sum) test. The test is exact if both groups have fewer
 * than 50 values and no values are equal; otherwise it uses the normal approximation with continuity correction, and the
 * variance is corrected for ties. Equals R's `wilcox.test` and SciPy's `mannwhitneyu`.
 */
import { twoSided } from './distributions.ts';
import { rank, tieSum } from './ranks.ts';

/** The result of the test. */
export interface MannWhitney {
  /** Number of pairs in which the second group's value is larger; a pair of equal values counts as half. */
  readonly u: number;
  readonly p: number;
  readonly exact: boolean;
}

/** Exact probabilities are used only if each group has fewer values than this, as in R. */
const EXACT_BELOW = 50;

/**
 * Compares two groups.
 * @param inflation how much autocorrelation inflates the variance of U; if it is more than 1, the approximation is used
 */
export function mannWhitney(a: ArrayLike<number>, b: ArrayLike<number>, inflation = 1): MannWhitney {
  const [m, n] = [a.length, b.length];
  const { ranks, ties } = rank([...Array.from(a), ...Array.from(b)]);
  const u = ranks.subarray(m).reduce((sum, each) => sum + each, 0) - (n * (n + 1)) / 2;
  if (isExact(m, n, ties) && inflation === 1) {
    const counts = countsOfU(m, n);
    const tail = Math.min(u, m * n - u);
    let [below, all] = [0, 0];
    for (const [k, count] of counts.entries()) {
      all += count;
      if (k <= tail) below += count;
    }
    return { u, p: Math.min(1, (2 * below) / all), exact: true };
  }
  const off = u - (m * n) / 2;
  const spread = Math.sqrt(varianceOfU(m, n, ties) * inflation);
  const p = spread > 0 ? twoSided((Math.sign(off) * Math.max(0, Math.abs(off) - 0.5)) / spread) : 1;
  return { u, p, exact: false };
}

/** Returns whether exact probabilities are used. */
export function isExact(m: number, n: number, ties: readonly number[]): boolean {
  return m < EXACT_BELOW && n < EXACT_BELOW && ties.length === 0;
}

/** Returns the variance of U without autocorrelation. */
export function varianceOfU(m: number, n: number, ties: readonly number[]): number {
  const all = m + n;
  return ((m * n) / 12) * (all + 1 - tieSum(ties) / (all * (all - 1)));
}

/** Returns, for each U from 0 to m × n, how many arrangements of two groups without equal values have that U. */
export function countsOfU(m: number, n: number): Float64Array {
  // Computes the Gaussian binomial coefficient by multiplying by (1 − q^(n+i)) and dividing by (1 − q^i).
  const counts = new Float64Array(m * n + 1);
  counts[0] = 1;
  for (let i = 1; i <= m; i += 1) {
    for (let k = counts.length - 1; k >= n + i; k -= 1)
      counts[k] = (counts[k] ?? 0) - (counts[k - n - i] ?? 0);
    for (let k = i; k < counts.length; k += 1) counts[k] = (counts[k] ?? 0) + (counts[k - i] ?? 0);
  }
  return counts;
}
