/** Ranks. */

/** The ranks of values, and how many values share a rank. */
export interface Ranks {
  /**
   * The rank of each value, from 1, in the order of the given values; equal values share the mean of their ranks (midranks).
   */
  readonly ranks: Float64Array;
  /** Sizes of the groups of equal values, without groups of one. */
  readonly ties: readonly number[];
}

/** Ranks values. */
export function rank(values: ArrayLike<number>): Ranks {
  const order = Uint32Array.from({ length: values.length }, (_, n) => n).sort(
    (a, b) => (values[a] ?? 0) - (values[b] ?? 0),
  );
  const ranks = new Float64Array(values.length);
  const ties: number[] = [];
  for (let from = 0; from < order.length; ) {
    let to = from + 1;
    while (to < order.length && values[order[to] ?? 0] === values[order[from] ?? 0]) to += 1;
    for (let n = from; n < to; n += 1) ranks[order[n] ?? 0] = (from + to + 1) / 2;
    if (to - from > 1) ties.push(to - from);
    from = to;
  }
  return { ranks, ties };
}

/** Returns the sum of t³ − t over groups of t equal values, which reduces the variances of rank statistics. */
export function tieSum(ties: readonly number[]): number {
  return ties.reduce((sum, t) => sum + t * (t * t - 1), 0);
}
