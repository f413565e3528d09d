/** The few statistics that the bench reports. */

/** Returns the median; NaN for no values. */
export function median(values: readonly number[]): number {
  return quantile([...values].sort(ascending), 0.5);
}

/**
 * Returns a quantile (0 to 1) of sorted values: the nearest rank, except that the median of an even number of values is
 * interpolated.
 */
export function quantile(sorted: ArrayLike<number>, q: number): number {
  const { length } = sorted;
  if (length === 0) return Number.NaN;
  if (q === 0.5 && length % 2 === 0) return (at(sorted, length / 2 - 1) + at(sorted, length / 2)) / 2;
  return at(sorted, Math.min(length - 1, Math.ceil(q * length) - 1));
}

/** Compares numbers for `sort`. */
export const ascending = (a: number, b: number): number => a - b;

function at(values: ArrayLike<number>, index: number): number {
  return values[Math.max(0, index)] ?? Number.NaN;
}
