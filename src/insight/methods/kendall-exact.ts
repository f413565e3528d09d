/**
 * Computes the exact distribution of Kendall's S, where every order of the given values is equally likely and ties remain ties
 * (Kendall 1975, chapter 4). Equals R's `cor.test(t, x, method = "kendall", exact = TRUE)` if no values are equal.
 */

/** With at least this many values, the normal approximation is used. */
export const EXACT_BELOW = 12;

/**
 * Returns the probability that |S| is at least as large as the given value, if the values don't depend on time.
 * @param n number of values, at different times
 * @param ties number of values in each group of equal values
 */
export function exactKendallP(s: number, n: number, ties: readonly number[]): number {
  // Counts orders by their number of inversions: [n]!/∏[t]! in Gaussian polynomials.
  let orders: readonly number[] = [1];
  for (let k = 2; k <= n; k += 1) orders = times(orders, k);
  for (const t of ties) for (let k = 2; k <= t; k += 1) orders = divided(orders, k);
  const pairs = orders.length - 1;
  const total = orders.reduce((sum, each) => sum + each, 0);
  const beyond = orders.reduce(
    (sum, each, inversions) => sum + (Math.abs(pairs - 2 * inversions) >= Math.abs(s) ? each : 0),
    0,
  );
  return beyond / total;
}

/** Multiplies a polynomial by 1 + q + … + q^(k − 1). */
function times(polynomial: readonly number[], k: number): number[] {
  return Array.from({ length: polynomial.length + k - 1 }, (_, at) =>
    polynomial.slice(Math.max(0, at - k + 1), at + 1).reduce((sum, each) => sum + each, 0),
  );
}

/** Divides a polynomial by 1 + q + … + q^(k − 1), which is one of its factors. */
function divided(polynomial: readonly number[], k: number): number[] {
  const quotient: number[] = [];
  for (let at = 0; at < polynomial.length - k + 1; at += 1) {
    const known = quotient.slice(Math.max(0, at - k + 1)).reduce((sum, each) => sum + each, 0);
    quotient.push((polynomial[at] ?? 0) - known);
  }
  return quotient;
}
