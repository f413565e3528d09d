/**
 * Computes the Hodges–Lehmann estimate of a shift: the median of all differences between a value in the second group and a
 * value in the first. Its interval is the one that belongs to the Mann–Whitney test: order statistics of the differences,
 * exact or by the normal approximation with continuity correction (Hollander and Wolfe, section 4.3), chosen by the same rule
 * as in the test. The result equals R's `wilcox.test(b, a, conf.int = TRUE)`, except that where R approximates, its estimate
 * is a root that can differ slightly if there are ties. For autocorrelated values, the variance of U is inflated as in the
 * test, so that the interval agrees with p.
 */
import type { Steps } from '#src/shared/load/slices.ts';
import { normalQuantile } from './distributions.ts';
import { countsOfU, isExact, varianceOfU } from './mann-whitney.ts';
import { rank } from './ranks.ts';
import { aroundMedian, medianSteps } from './select.ts';

/** By how much the second group's values exceed those of the first. */
export interface Shift {
  readonly estimate: number;
  readonly low: number;
  readonly high: number;
}

/**
 * Estimates the shift, in steps.
 * @param level the interval's confidence level, 0.95
 * @param inflation how much autocorrelation inflates the variance of U; if it is more than 1, the approximation is used
 */
export function* hodgesLehmann(
  a: ArrayLike<number>,
  b: ArrayLike<number>,
  level = 0.95,
  inflation = 1,
): Steps<Shift> {
  const [m, n] = [a.length, b.length];
  const differences = new Float64Array(m * n);
  for (let i = 0; i < m; i += 1) {
    for (let j = 0; j < n; j += 1) differences[i * n + j] = (b[j] ?? 0) - (a[i] ?? 0);
    yield;
  }
  const estimate = yield* medianSteps(differences);
  const { ties } = rank([...Array.from(a), ...Array.from(b)]);
  const place =
    isExact(m, n, ties) && inflation === 1
      ? exactPlace(m, n, level)
      : boundPlace(m, n, level, varianceOfU(m, n, ties) * inflation);
  const ends = yield* aroundMedian(differences, Math.max(0, place - 1), Math.min(m * n - 1, m * n - place));
  return { estimate, ...ends };
}

/** Returns the quantile of U at (1 − level) / 2, at least 1. */
function exactPlace(m: number, n: number, level: number): number {
  const counts = countsOfU(m, n);
  const all = counts.reduce((sum, each) => sum + each, 0);
  let sum = 0;
  for (const [k, count] of counts.entries()) {
    sum += count;
    if (sum / all >= (1 - level) / 2) return Math.max(1, k);
  }
  return 1;
}

function boundPlace(m: number, n: number, level: number, variance: number): number {
  const z = -normalQuantile((1 - level) / 2);
  return Math.max(1, Math.round((m * n) / 2 - z * Math.sqrt(variance)));
}
