/** Texts in order, each with a list of numbers: what an index of codes is made of, in a few bytes a text. */

/** How many texts a block has: its first one stands there whole, of the others what differs from the one before. */
export const BLOCK = 16;

/** The bytes of texts with their lists; numbers are unsigned, of 32 bits, in the order of the machine's bytes. */
export interface TextListsBytes {
  /** Of each text: how many bytes it shares with the one before, how many follow, those. */
  readonly texts: ArrayBuffer;
  /** Where each block begins in `texts`. */
  readonly blocks: ArrayBuffer;
  /** Where each text's list begins in `numbers`; one more at the end. */
  readonly starts: ArrayBuffer;
  readonly numbers: ArrayBuffer;
}

/** Follows all that begins with a text: no byte of UTF-8 is as high. */
const AFTER = Buffer.from([0xff]);

/** The texts, in the order of their bytes. */
export class TextLists {
  /** How many there are. */
  readonly size: number;
  readonly #texts: Buffer;
  readonly #blocks: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #numbers: Uint32Array;

  constructor({ texts, blocks, starts, numbers }: TextListsBytes) {
    this.#texts = Buffer.from(texts);
    this.#blocks = new Uint32Array(blocks);
    this.#starts = new Uint32Array(starts);
    this.#numbers = new Uint32Array(numbers);
    this.size = Math.max(0, this.#starts.length - 1);
  }

  /** The texts that begin so: the place of the first, and the place after the last. */
  beginning(text: string): readonly [from: number, to: number] {
    const bytes = Buffer.from(text);
    const from = this.#firstFrom(bytes);
    return [from, Math.max(from, this.#firstFrom(Buffer.concat([bytes, AFTER])))];
  }

  /** Where a text is; undefined when it is not among them. */
  placeOf(text: string): number | undefined {
    const bytes = Buffer.from(text);
    const place = this.#firstFrom(bytes);
    return place < this.size && this.#at(place).equals(bytes) ? place : undefined;
  }

  /** The text of a place. */
  textAt(place: number): string {
    return this.#at(place).toString();
  }

  /** The lists of neighbouring texts, one after the other. */
  numbers(from: number, to: number): Uint32Array {
    return this.#numbers.subarray(this.#starts[from] ?? 0, this.#starts[to] ?? 0);
  }

  #at(place: number): Buffer {
    const block = Math.floor(place / BLOCK);
    let at = block * BLOCK;
    for (const text of this.#inBlock(block)) {
      if (at === place) return text;
      at += 1;
    }
    throw new RangeError(`there are ${this.size} texts, and none at ${place}`);
  }

  /** The place of the first text that does not stand before another. */
  #firstFrom(bytes: Buffer): number {
    let [low, high] = [0, this.#blocks.length];
    // The last block that begins before it; the text is there, or it begins the next.
    while (low < high) {
      const middle = (low + high) >>> 1;
      const [first] = this.#inBlock(middle);
      if (first !== undefined && first.compare(bytes) < 0) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return 0;
    let place = (low - 1) * BLOCK;
    for (const text of this.#inBlock(low - 1)) {
      if (text.compare(bytes) >= 0) return place;
      place += 1;
    }
    return place;
  }

  *#inBlock(block: number): Generator<Buffer> {
    const from = this.#blocks[block] ?? 0;
    const to = this.#blocks[block + 1] ?? this.#texts.length;
    let text: Buffer = Buffer.alloc(0);
    for (let at = from; at < to; ) {
      const [shared, afterShared] = numberAt(this.#texts, at);
      const [own, afterOwn] = numberAt(this.#texts, afterShared);
      at = afterOwn + own;
      const rest = this.#texts.subarray(afterOwn, at);
      text = shared === 0 ? rest : Buffer.concat([text.subarray(0, shared), rest]);
      yield text;
    }
  }
}

/** A number as it stands in `texts`, seven bits a byte, the lowest first; and where it ends. */
function numberAt(bytes: Buffer, from: number): readonly [value: number, end: number] {
  let value = 0;
  for (let at = from, shift = 0; ; at += 1, shift += 7) {
    const byte = bytes[at] ?? 0;
    value += (byte & 0x7f) << shift;
    if (byte < 0x80) return [value, at + 1];
  }
}

/** A number as `texts` has it. */
export function asBytes(number: number): number[] {
  const bytes: number[] = [];
  let rest = number;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return bytes;
}
