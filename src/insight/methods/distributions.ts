/**
 * Computes tails and quantiles of distributions in double precision; tables and polynomials with seven digits aren't accurate
 * enough.
 */

const LANCZOS = [
  0.99999999999980993, 676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059,
  12.507343278686905, -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
] as const;

const TINY = 1e-300;
const PRECISION = 1e-16;
const MOST_TERMS = 2_000;

/** Returns the logarithm of the gamma function for a number above 0 (Lanczos, g = 7). */
function logGamma(x: number): number {
  if (x < 0.5) return Math.log(Math.PI / Math.sin(Math.PI * x)) - logGamma(1 - x);
  const z = x - 1;
  let sum = 0;
  for (const [n, coefficient] of LANCZOS.entries()) sum += n === 0 ? coefficient : coefficient / (z + n);
  const t = z + 7.5;
  return 0.5 * Math.log(2 * Math.PI) + (z + 0.5) * Math.log(t) - t + Math.log(sum);
}

/**
 * Returns the regularised upper incomplete gamma function Q(a, x): by a series if x is below a + 1, otherwise by a continued
 * fraction.
 */
function upperGamma(a: number, x: number): number {
  if (x <= 0) return 1;
  const scale = Math.exp(a * Math.log(x) - x - logGamma(a));
  if (x < a + 1) {
    let term = 1 / a;
    let sum = term;
    for (let n = 1; n < MOST_TERMS && Math.abs(term) > Math.abs(sum) * PRECISION; n += 1) {
      term *= x / (a + n);
      sum += term;
    }
    return 1 - sum * scale;
  }
  let b = x + 1 - a;
  let c = 1 / TINY;
  let d = 1 / b;
  let fraction = d;
  for (let n = 1; n < MOST_TERMS; n += 1) {
    const factor = -n * (n - a);
    b += 2;
    d = 1 / atLeastTiny(factor * d + b);
    c = atLeastTiny(b + factor / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < PRECISION) break;
  }
  return fraction * scale;
}

/** Returns the regularised incomplete beta function I_x(a, b), by its continued fraction (Lentz). */
function beta(x: number, a: number, b: number): number {
  if (x <= 0) return 0;
  if (x >= 1) return 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - beta(1 - x, b, a);
  const scale = Math.exp(logGamma(a + b) - logGamma(a) - logGamma(b) + a * Math.log(x) + b * Math.log(1 - x));
  let c = 1;
  let d = 1 / atLeastTiny(1 - ((a + b) * x) / (a + 1));
  let fraction = d;
  for (let n = 1; n < MOST_TERMS; n += 1) {
    const even = (n * (b - n) * x) / ((a + 2 * n - 1) * (a + 2 * n));
    d = 1 / atLeastTiny(1 + even * d);
    c = atLeastTiny(1 + even / c);
    fraction *= d * c;
    const odd = (-(a + n) * (a + b + n) * x) / ((a + 2 * n) * (a + 2 * n + 1));
    d = 1 / atLeastTiny(1 + odd * d);
    c = atLeastTiny(1 + odd / c);
    fraction *= d * c;
    if (Math.abs(d * c - 1) < PRECISION) break;
  }
  return (scale * fraction) / a;
}

const atLeastTiny = (value: number): number => (Math.abs(value) < TINY ? TINY : value);

/** Returns the density of the standard normal distribution. */
export function normalDensity(z: number): number {
  return Math.exp(-0.5 * z * z) / Math.sqrt(2 * Math.PI);
}

/** Returns the probability that a standard normal value is at least `z`. */
export function normalTail(z: number): number {
  const half = 0.5 * upperGamma(0.5, 0.5 * z * z);
  return z >= 0 ? half : 1 - half;
}

/** Returns the probability that a standard normal value is at least as far from 0 as `z`, on either side. */
export function twoSided(z: number): number {
  return Math.min(1, upperGamma(0.5, 0.5 * z * z));
}

/**
 * Returns the quantile of the standard normal distribution, by bisection on `normalTail`.
 * @param p above 0 and below 1
 */
export function normalQuantile(p: number): number {
  if (p > 0.5) return -normalQuantile(1 - p);
  let [low, high] = [-40, 0];
  for (let n = 0; n < 100; n += 1) {
    const middle = (low + high) / 2;
    if (normalTail(-middle) < p) low = middle;
    else high = middle;
  }
  return (low + high) / 2;
}

/** Returns the probability that a value from Student's distribution is at least as far from 0 as `t`, on either side. */
export function studentTwoSided(t: number, degrees: number): number {
  return beta(degrees / (degrees + t * t), degrees / 2, 0.5);
}

/** Returns the standard normal z that has the same two-sided probability as `t` in Student's distribution. */
export function normalOfStudent(t: number, degrees: number): number {
  const p = studentTwoSided(t, degrees);
  return p < 1e-300 ? Number.POSITIVE_INFINITY : -normalQuantile(p / 2);
}

/** Returns the probability that a value from the chi-squared distribution is at least `x`. */
export function chiSquaredTail(x: number, degrees: number): number {
  return upperGamma(degrees / 2, x / 2);
}
