/**
 * Computes Spearman's rank correlation: Pearson's correlation of midranks. The two-sided p comes from Student's distribution,
 * as in R's `cor.test(method = "spearman", exact = FALSE)` and SciPy's `spearmanr`.
 */
import { sampleCorrelation } from 'simple-statistics';
import { studentTwoSided } from './distributions.ts';
import { rank } from './ranks.ts';

/** A correlation. */
export interface Spearman {
  readonly rho: number;
  readonly p: number;
}

/**
 * Correlates pairs of values; undefined if all first values, or all second values, are equal.
 * @param effective number of independent pairs, which autocorrelation makes smaller than the number of pairs
 */
export function spearman(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  effective = a.length,
): Spearman | undefined {
  const [x, y] = [rank(a), rank(b)];
  if (x.ties[0] === a.length || y.ties[0] === b.length) return undefined;
  const rho = Math.min(1, Math.max(-1, sampleCorrelation(Array.from(x.ranks), Array.from(y.ranks))));
  const degrees = effective - 2;
  if (degrees <= 0) return { rho, p: 1 };
  if (Math.abs(rho) === 1) return { rho, p: 0 };
  return { rho, p: studentTwoSided(rho * Math.sqrt(degrees / (1 - rho * rho)), degrees) };
}
