/** Merges and intersects ascending lists of numbers. */

/** Numbers that are read in ascending order. */
export interface Ascending {
  /**
   * Returns the lowest number that is at least `least`; undefined after the last number. `least` must never decrease between
   * calls.
   */
  from(least: number): number | undefined;
}

/** The union of ascending lists. Suitable only for a few lists, because each call looks at all of them. */
class Lists implements Ascending {
  readonly #lists: readonly Uint32Array[];
  /** For each list, the index at which the last call ended. */
  readonly #ends: Uint32Array;

  constructor(lists: readonly Uint32Array[]) {
    this.#lists = lists;
    this.#ends = new Uint32Array(lists.length);
  }

  from(least: number): number | undefined {
    let lowest: number | undefined;
    for (let nth = 0; nth < this.#lists.length; nth += 1) {
      const list = this.#lists[nth] ?? NONE;
      const at = firstFrom(list, this.#ends[nth] ?? 0, least);
      this.#ends[nth] = at;
      const number = list[at];
      if (number !== undefined && (lowest === undefined || number < lowest)) lowest = number;
    }
    return lowest;
  }
}

const NONE = new Uint32Array(0);

/** Returns the index of the first number in an ascending list that is at least `least`; searches with steps that double. */
function firstFrom(list: Uint32Array, start: number, least: number): number {
  let [low, step] = [start, 1];
  while ((list[low + step] ?? least) < least) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, list.length);
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((list[middle] ?? least) < least) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A set of numbers given in any order, stored as one bit each. */
class Bits implements Ascending {
  readonly #bits: Uint32Array;

  constructor(numbers: Uint32Array, below: number) {
    const bits = new Uint32Array((below >>> 5) + 1);
    for (let at = 0; at < numbers.length; at += 1) {
      const number = numbers[at] ?? 0;
      bits[number >>> 5] = (bits[number >>> 5] ?? 0) | (1 << (number & 31));
    }
    this.#bits = bits;
  }

  from(least: number): number | undefined {
    const bits = this.#bits;
    let at = least >>> 5;
    let left = (bits[at] ?? 0) & (-1 << (least & 31));
    while (left === 0) {
      at += 1;
      if (at >= bits.length) return undefined;
      left = bits[at] ?? 0;
    }
    return at * 32 + 31 - Math.clz32(left & -left);
  }
}

/** Returns the union of ascending lists. */
export function ofLists(lists: readonly Uint32Array[]): Ascending {
  return new Lists(lists);
}

/**
 * Returns numbers, given in any order, as an ascending list.
 * @param below greater than all of the numbers
 */
export function ofNumbers(numbers: Uint32Array, below: number): Ascending {
  return new Bits(numbers, below);
}

/** Yields the intersection, which is computed while it is read. The intersection of no lists is empty. */
export function* common(all: readonly Ascending[]): Generator<number> {
  const [first, ...others] = all;
  let number = first?.from(0);
  while (number !== undefined) {
    let next: number | undefined = number;
    for (const other of others) {
      next = other.from(next);
      if (next === undefined) return;
    }
    if (next === number) {
      yield number;
      next += 1;
    }
    number = first?.from(next);
  }
}
