/**
 * Finds order statistics of millions of values without sorting, in steps, by Hoare's selection on typed arrays. The selection
 * in `simple-statistics` takes ten times as long for so many values, and can't be interrupted.
 */
import { atOnce, type Steps } from '#src/shared/load/slices.ts';

/**
 * Returns two order statistics of values whose median was found by `medianSteps`, in steps: smaller values are then in the
 * first half, larger ones in the second.
 */
export function* aroundMedian(
  values: Float64Array,
  lower: number,
  upper: number,
): Steps<{ readonly low: number; readonly high: number }> {
  const [middle, last] = [values.length >> 1, values.length - 1];
  const ends: number[] = [];
  for (const k of [lower, upper])
    ends.push(yield* k < middle ? kth(values, k, 0, middle - 1) : kth(values, k, middle, last));
  const [low = Number.NaN, high = Number.NaN] = ends;
  return { low, high };
}

/**
 * Returns the k-th smallest value, counting from 0. Reorders the values. A step is one pass.
 * @param first the first position where the value may be
 * @param last the last one
 */
function* kth(values: Float64Array, k: number, first = 0, last = values.length - 1): Steps<number> {
  let [low, high] = [first, last];
  while (low < high) {
    const pivot = medianOfThree(values, low, high);
    let [i, j] = [low, high];
    while (i <= j) {
      while ((values[i] ?? pivot) < pivot) i += 1;
      while ((values[j] ?? pivot) > pivot) j -= 1;
      if (i > j) break;
      const kept = values[i] ?? 0;
      values[i] = values[j] ?? 0;
      values[j] = kept;
      i += 1;
      j -= 1;
    }
    if (k <= j) high = j;
    else if (k >= i) low = i;
    else break;
    yield;
  }
  return values[k] ?? Number.NaN;
}

function medianOfThree(values: Float64Array, low: number, high: number): number {
  const [a, b, c] = [values[low] ?? 0, values[(low + high) >> 1] ?? 0, values[high] ?? 0];
  return Math.max(Math.min(a, b), Math.min(Math.max(a, b), c));
}

/** Returns the median, in steps. Reorders the given values. */
export function* medianSteps(values: Float64Array): Steps<number> {
  const { length } = values;
  const middle = length >> 1;
  const upper = yield* kth(values, middle);
  if (length % 2 === 1) return upper;
  let lower = Number.NEGATIVE_INFINITY;
  for (let n = 0; n < middle; n += 1) lower = Math.max(lower, values[n] ?? lower);
  return (lower + upper) / 2;
}

/** Returns the median of a few thousand values without reordering them. */
export function findMedian(values: ArrayLike<number>): number {
  return atOnce(medianSteps(Float64Array.from(values)));
}
