/**
 * Corrects for autocorrelation: values close in time resemble each other, so n of them carry less information than n
 * independent values. Without these corrections, a series that merely drifts would seem to have trends and changes.
 */

/** The autocorrelation assumed for a series that has too few values to estimate its own. */
export const ASSUMED = {
  /** For intervals, and for tests that compare series or times. */
  usual: 0.45,
  /** For tests for a trend or a change in one series: decision 0024 weighs missed findings against false ones. */
  course: 0.25,
} as const;
/** Number of values that the assumed autocorrelation is weighted as. */
const WEIGHT = 60;
const MOST = 0.98;
/**
 * From this number of values on, a series shows reliably how much it drifts: the assumed coefficient may then raise the
 * estimate, but not lower it.
 */
const SHOWN_FROM = 100;

/**
 * Returns the first-order autocorrelation of residuals, from 0 to 0.98. For a short series to which a line or a step was
 * fitted, the raw estimate is too low by about (2 + 4ρ) / n (Kendall 1954, Marriott and Pope 1954); this is added back. The
 * estimate is then pulled towards the assumed autocorrelation; the more values there are, the weaker the pull. From 100 values
 * on, the estimate is never pulled down.
 */
export function autocorrelation(residuals: ArrayLike<number>, assumed: number = ASSUMED.usual): number {
  const n = residuals.length;
  const mean = Array.from(residuals).reduce((sum, each) => sum + each, 0) / n;
  let [together, alone] = [0, 0];
  for (let k = 0; k < n; k += 1) {
    const each = (residuals[k] ?? 0) - mean;
    alone += each * each;
    if (k > 0) together += each * ((residuals[k - 1] ?? 0) - mean);
  }
  const raw = alone === 0 ? 0 : together / alone;
  const unbiased = n > 4 ? Math.min(1, (n * raw + 2) / (n - 4)) : 1;
  const drawn = (n * unbiased + WEIGHT * assumed) / (n + WEIGHT);
  return Math.min(MOST, Math.max(0, n >= SHOWN_FROM ? Math.max(drawn, unbiased) : drawn));
}

/**
 * Returns by how much autocorrelation inflates the variance of Kendall's S: Hamed and Rao (1998), equation 12, with the
 * autocorrelations ρ, ρ², … of an autoregressive series of order 1.
 */
export function inflationOfTrend(rho: number, n: number): number {
  let sum = 0;
  let power = rho;
  for (let k = 1; k < n - 2 && power > 1e-6; k += 1) {
    sum += (n - k) * (n - k - 1) * (n - k - 2) * power;
    power *= rho;
  }
  return 1 + (2 / (n * (n - 1) * (n - 2))) * sum;
}

/** Returns by how much autocorrelation inflates the variance of a mean of many values. */
export function inflationOfMean(rho: number): number {
  return (1 + rho) / (1 - rho);
}

/** Returns how many independent pairs carry as much information as n pairs from two autocorrelated series (Bartlett 1935). */
export function effectivePairs(n: number, first: number, second: number): number {
  return (n * (1 - first * second)) / (1 + first * second);
}
