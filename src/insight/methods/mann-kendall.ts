/**
 * Tests for a monotone trend (Mann–Kendall: Mann 1945, Kendall 1975) by Kendall's S of values against time. The test is
 * two-sided. It is exact for fewer than 12 values at different times; otherwise it uses the normal approximation with
 * continuity correction, and the variance is corrected for ties in values and in time. The approximation equals R's
 * `cor.test(t, x, method = "kendall", exact = FALSE, continuity = TRUE)`.
 */
import { normalQuantile, twoSided } from './distributions.ts';
import { EXACT_BELOW, exactKendallP } from './kendall-exact.ts';
import { rank } from './ranks.ts';

/** The result of the test. */
export interface MannKendall {
  /** Number of pairs that rise, minus the number that fall. */
  readonly s: number;
  /** The variance of S if the values are independent. */
  readonly variance: number;
  /** With continuity correction; for the exact test, the z that has the same probability as S. */
  readonly z: number;
  readonly p: number;
}

/**
 * Tests for a trend.
 * @param times in ascending order
 * @param inflation how much autocorrelation inflates the variance of S (`inflationOfTrend`)
 */
export function mannKendall(times: ArrayLike<number>, values: ArrayLike<number>, inflation = 1): MannKendall {
  const s = balances(times, values).reduce((sum, each) => sum + each, 0) / 2;
  const n = values.length;
  const [tiesInTime, tiesInValues] = [rank(times).ties, rank(values).ties];
  const inTime = groupSums(tiesInTime);
  const inValues = groupSums(tiesInValues);
  const variance =
    (n * (n - 1) * (2 * n + 5) - inTime.third - inValues.third) / 18 +
    (inTime.first * inValues.first) / (2 * n * (n - 1)) +
    (n > 2 ? (inTime.second * inValues.second) / (9 * n * (n - 1) * (n - 2)) : 0);
  const size = isExact(times)
    ? -normalQuantile(exactKendallP(s, n, tiesInValues) / 2)
    : Math.max(0, Math.abs(s) - 1) / Math.sqrt(variance);
  const z = variance > 0 ? (Math.sign(s) * size) / Math.sqrt(inflation) : 0;
  return { s, variance, z, p: twoSided(z) };
}

/**
 * Returns whether values at the given times, in ascending order, are tested exactly: there must be few values, and no two at
 * the same time.
 */
export function isExact(times: ArrayLike<number>): boolean {
  return times.length < EXACT_BELOW && new Set(Array.from(times)).size === times.length;
}

/** Returns the sums over groups of equal values that correct Kendall's variance. */
function groupSums(ties: readonly number[]): { first: number; second: number; third: number } {
  let [first, second, third] = [0, 0, 0];
  for (const t of ties) {
    first += t * (t - 1);
    second += t * (t - 1) * (t - 2);
    third += t * (t - 1) * (2 * t + 5);
  }
  return { first, second, third };
}

/**
 * Returns, for each value, how many of its pairs with other values rise in time, minus how many fall; pairs of equal times or
 * values count 0. The sum is 2 S. Uses a Fenwick tree over ranks: n log n.
 */
export function balances(times: ArrayLike<number>, values: ArrayLike<number>): Float64Array {
  const n = values.length;
  const sorted = [...new Set(Array.from(values))].sort((a, b) => a - b);
  const rankOf = new Map(sorted.map((value, at) => [value, at + 1]));
  const ranks = Int32Array.from(values, (value) => rankOf.get(value) ?? 0);
  const tree = new Int32Array(sorted.length + 1);
  const upTo = (rank: number): number => {
    let sum = 0;
    for (let k = rank; k > 0; k -= k & -k) sum += tree[k] ?? 0;
    return sum;
  };
  const found = new Float64Array(n);
  for (const way of [1, -1]) {
    tree.fill(0);
    let passed = 0;
    for (let from = 0; from < n; from = passed) {
      // Values at the same time are compared only with values at other times.
      const place = (k: number): number => (way === 1 ? k : n - 1 - k);
      let to = from + 1;
      while (to < n && times[place(to)] === times[place(from)]) to += 1;
      for (let k = from; k < to; k += 1) {
        const rank = ranks[place(k)] ?? 0;
        found[place(k)] = (found[place(k)] ?? 0) + way * (upTo(rank - 1) - (from - upTo(rank)));
      }
      for (let k = from; k < to; k += 1)
        for (let at = ranks[place(k)] ?? 0; at < tree.length; at += at & -at) tree[at] = (tree[at] ?? 0) + 1;
      passed = to;
    }
  }
  return found;
}
