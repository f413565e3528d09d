/** Random numbers from a seed: the same numbers each time. */
export class Chance {
  #state: number;
  #ids = 0;
  readonly #seed: number;

  constructor(seed: number) {
    this.#seed = seed;
    this.#state = seed >>> 0;
  }

  /** Returns a number from 0 to 1, by mulberry32. */
  next(): number {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = this.#state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }

  /** Returns an integer from 0 up to, but not including, the given number. */
  upTo(count: number): number {
    return Math.floor(this.next() * count);
  }

  /** Returns true with the given probability. */
  is(share: number): boolean {
    return this.next() < share;
  }

  /** Returns one of several values. */
  pick<T>(values: readonly [T, ...T[]]): T {
    return values[this.upTo(values.length)] ?? values[0];
  }

  /** Returns an id that no other call returns. */
  id(): string {
    const [seed, count] = [this.#seed, this.#ids++].map((number) => number.toString(16));
    return `01f00000-0000-7000-8${seed?.slice(-3).padStart(3, '0')}-${(seed ?? '').slice(0, -3).padStart(8, '0')}${count?.padStart(4, '0')}`;
  }
}
