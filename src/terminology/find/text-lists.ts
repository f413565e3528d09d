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
  /** The text that was read last. */
  #text: Buffer = Buffer.alloc(256);

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
    const [from] = this.#seek(bytes);
    const [to] = this.#seek(Buffer.concat([bytes, AFTER]));
    return [from, to];
  }

  /** Where a text is; undefined when it is not among them. */
  placeOf(text: string): number | undefined {
    const bytes = Buffer.from(text);
    const [place, length] = this.#seek(bytes);
    return this.#text.compare(bytes, 0, bytes.length, 0, length) === 0 ? place : undefined;
  }

  /** The lists of neighbouring texts, one after the other. */
  numbers(from: number, to: number): Uint32Array {
    return this.#numbers.subarray(this.#starts[from] ?? 0, this.#starts[to] ?? 0);
  }

  /** The place of the first text that does not stand before another, and its length in `#text`; 0 after the last one. */
  #seek(bytes: Buffer): readonly [place: number, length: number] {
    const block = Math.max(0, this.#blocksBefore(bytes) - 1);
    const texts = this.#texts;
    let place = block * BLOCK;
    let at = this.#blocks[block] ?? texts.length;
    // It is in the last block that begins before it, or begins the next one.
    for (; at < texts.length; place += 1) {
      const shared = numberAt(texts, at);
      at += bytesOf(shared);
      const own = numberAt(texts, at);
      at += bytesOf(own);
      const length = shared + own;
      if (length > this.#text.length) this.#text = Buffer.concat([this.#text], 2 * length);
      texts.copy(this.#text, shared, at, at + own);
      if (this.#text.compare(bytes, 0, bytes.length, 0, length) >= 0) return [place, length];
      at += own;
    }
    return [place, 0];
  }

  /** How many blocks begin with a text that stands before another. */
  #blocksBefore(bytes: Buffer): number {
    let [low, high] = [0, this.#blocks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      // The first text shares nothing: one byte says so.
      const at = (this.#blocks[middle] ?? 0) + 1;
      const own = numberAt(this.#texts, at);
      const from = at + bytesOf(own);
      if (this.#texts.compare(bytes, 0, bytes.length, from, from + own) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Encodes a number for `texts`: seven bits a byte, the lowest first. */
function numberAt(bytes: Buffer, from: number): number {
  let value = 0;
  for (let at = from, shift = 0; ; at += 1, shift += 7) {
    const byte = bytes[at] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

/** How many bytes a number takes there. */
function bytesOf(number: number): number {
  let bytes = 1;
  for (let rest = number >>> 7; rest > 0; rest >>>= 7) bytes += 1;
  return bytes;
}

/** A number as `texts` has it. */
export function asBytes(number: number): number[] {
  const bytes: number[] = [];
  let rest = number;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return bytes;
}
