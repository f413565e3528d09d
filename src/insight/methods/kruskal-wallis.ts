/**
 * Tests whether several groups have the same distribution (Kruskal–Wallis): H is corrected for ties, and p comes from the
 * chi-squared distribution. Equals R's `kruskal.test` and SciPy's `kruskal`.
 */
import { chiSquaredTail } from './distributions.ts';
import { rank, tieSum } from './ranks.ts';

/** The result of the test. */
export interface KruskalWallis {
  readonly h: number;
  readonly degrees: number;
  readonly p: number;
}

/** Compares groups; undefined if there are fewer than two, or if all values are equal. */
export function kruskalWallis(groups: readonly ArrayLike<number>[]): KruskalWallis | undefined {
  const filled = groups.filter(({ length }) => length > 0);
  const all = filled.flatMap((group) => Array.from(group));
  const n = all.length;
  const { ranks, ties } = rank(all);
  if (filled.length < 2 || ties[0] === n) return undefined;
  let from = 0;
  let sum = 0;
  for (const { length } of filled) {
    const total = ranks.subarray(from, from + length).reduce((of, each) => of + each, 0);
    sum += (total * total) / length;
    from += length;
  }
  const h = ((12 / (n * (n + 1))) * sum - 3 * (n + 1)) / (1 - tieSum(ties) / (n * n * n - n));
  return { h, degrees: filled.length - 1, p: chiSquaredTail(h, filled.length - 1) };
}
