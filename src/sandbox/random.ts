/**
 * Generates pseudo-random numbers from a seed: the same seed gives the same patients on every machine. Not for secrets.
 */

/** A generator with a state of four words (sfc32, by Chris Doty-Humphrey), seeded with a text. */
export class Random {
  readonly #state: [number, number, number, number];

  constructor(readonly seed: string) {
    this.#state = [hash(seed, 1), hash(seed, 2), hash(seed, 3), 1];
    for (let round = 0; round < 12; round += 1) this.next();
  }

  /** Returns a separate generator for a named part, so that a change in one part doesn't affect the others. */
  fork(part: string): Random {
    return new Random(`${this.seed}/${part}`);
  }

  /** Returns a number that is at least 0 and below 1. */
  next(): number {
    const state = this.#state;
    const [a, b, c, count] = state;
    const sum = (a + b + count) | 0;
    state[3] = (count + 1) | 0;
    state[0] = b ^ (b >>> 9);
    state[1] = (c + (c << 3)) | 0;
    state[2] = (((c << 21) | (c >>> 11)) + sum) | 0;
    return (sum >>> 0) / 2 ** 32;
  }

  /** Returns a whole number from `least` to `most`, both inclusive. */
  int(least: number, most: number): number {
    return least + Math.floor(this.next() * (most - least + 1));
  }

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  /** Returns a number around 0, at most `spread` away; small numbers are more likely. */
  noise(spread: number): number {
    return (this.next() + this.next() - 1) * spread;
  }

  /** Returns a random item of a list, which must not be empty. */
  pick<T>(list: readonly T[]): T {
    const one = list[this.int(0, list.length - 1)];
    if (one === undefined) throw new RangeError('nothing to pick from');
    return one;
  }
}

/** Returns a 32-bit hash of a text (FNV-1a with a final avalanche). */
function hash(text: string, salt: number): number {
  let value = 0x811c9dc5 ^ salt;
  for (const unit of text) value = Math.imul(value ^ (unit.codePointAt(0) ?? 0), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  return value ^ (value >>> 13);
}
