/** A set of small numbers, a bit each: made, cut and read in the time that it takes to touch its numbers once. */
export class NumberSet {
  readonly #bits: Uint32Array;

  /** @param below no number is as high. */
  constructor(below: number) {
    this.#bits = new Uint32Array((below >>> 5) + 1);
  }

  add(numbers: Uint32Array): void {
    for (const number of numbers) {
      const at = number >>> 5;
      this.#bits[at] = (this.#bits[at] ?? 0) | (1 << (number & 31));
    }
  }

  /** Keeps what another one has too, which is as large. */
  keep(other: NumberSet): void {
    for (let at = 0; at < this.#bits.length; at += 1)
      this.#bits[at] = (this.#bits[at] ?? 0) & (other.#bits[at] ?? 0);
  }

  /** From the lowest up. */
  *[Symbol.iterator](): Generator<number> {
    for (let at = 0; at < this.#bits.length; at += 1) {
      for (let bits = this.#bits[at] ?? 0; bits !== 0; bits &= bits - 1)
        yield at * 32 + 31 - Math.clz32(bits & -bits);
    }
  }
}
