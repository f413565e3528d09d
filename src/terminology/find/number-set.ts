/** A set of small numbers, a bit each: made, cut and read in the time that it takes to touch its numbers once. */
export class NumberSet {
  readonly #bits: Uint32Array;

  /** @param below no number is as high. */
  constructor(below: number) {
    this.#bits = new Uint32Array((below >>> 5) + 1);
  }

  add(numbers: Uint32Array): void {
    const bits = this.#bits;
    for (let at = 0; at < numbers.length; at += 1) {
      const number = numbers[at] ?? 0;
      bits[number >>> 5] = (bits[number >>> 5] ?? 0) | (1 << (number & 31));
    }
  }

  /** Keeps what another one has too, which is as large. */
  keep(other: NumberSet): void {
    const [bits, others] = [this.#bits, other.#bits];
    for (let at = 0; at < bits.length; at += 1) bits[at] = (bits[at] ?? 0) & (others[at] ?? 0);
  }

  /** From the lowest up. */
  *[Symbol.iterator](): Generator<number> {
    const bits = this.#bits;
    for (let at = 0; at < bits.length; at += 1) {
      for (let left = bits[at] ?? 0; left !== 0; left &= left - 1)
        yield at * 32 + 31 - Math.clz32(left & -left);
    }
  }
}
