/**
 * Sorted texts, each with a list of numbers, in a compact encoding that takes a few bytes per text. This is the data structure
 * behind an index of codes.
 */

/** Number of texts in a block. The first text is stored whole; the others are stored as differences from the preceding text. */
export const BLOCK = 16;

/** The bytes of texts with their lists. Numbers are unsigned 32-bit integers in the machine's byte order. */
export interface TextListsBytes {
  /**
   * For each text: the number of bytes that it shares with the preceding text, the number of further bytes, and these further
   * bytes.
   */
  readonly texts: ArrayBuffer;
  /** The offset of each block in `texts`. */
  readonly blocks: ArrayBuffer;
  /** The offset of each text's list in `numbers`, and one more offset for the end of the last list. */
  readonly starts: ArrayBuffer;
  readonly numbers: ArrayBuffer;
}

/** Sorts after every text with the same beginning, because this byte doesn't occur in UTF-8. */
const AFTER = Buffer.from([0xff]);

/** Texts, sorted by their bytes. */
export class TextLists {
  /** The number of texts. */
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

  /**
   * Returns the range of texts that begin with the given text: the place of the first such text, and the place after the last.
   */
  beginning(text: string): readonly [from: number, to: number] {
    const bytes = Buffer.from(text);
    const [from] = this.#seek(bytes);
    const [to] = this.#seek(Buffer.concat([bytes, AFTER]));
    return [from, to];
  }

  /** Returns the place of a text; undefined if the text isn't included. */
  findPlace(text: string): number | undefined {
    const bytes = Buffer.from(text);
    const [place, length] = this.#seek(bytes);
    return this.#text.compare(bytes, 0, bytes.length, 0, length) === 0 ? place : undefined;
  }

  textAt(place: number): string {
    const texts = this.#texts;
    let at = this.#blocks[Math.floor(place / BLOCK)] ?? texts.length;
    let bytes: Buffer = Buffer.alloc(0);
    for (let nth = place - (place % BLOCK); nth <= place && at < texts.length; nth += 1) {
      const shared = numberAt(texts, at);
      at += countBytes(shared);
      const own = numberAt(texts, at);
      at += countBytes(own);
      bytes = Buffer.concat([bytes.subarray(0, shared), texts.subarray(at, at + own)]);
      at += own;
    }
    return bytes.toString();
  }

  /** Returns the concatenated lists of texts in a range. */
  numbers(from: number, to: number): Uint32Array {
    return this.#numbers.subarray(this.#starts[from] ?? 0, this.#starts[to] ?? 0);
  }

  /**
   * Returns the place of the first text that isn't lower than the given one, and its length in `#text`; beyond the last text,
   * the length is 0.
   */
  #seek(bytes: Buffer): readonly [place: number, length: number] {
    const block = Math.max(0, this.#blocksBefore(bytes) - 1);
    const texts = this.#texts;
    let place = block * BLOCK;
    let at = this.#blocks[block] ?? texts.length;
    // The text is in the last block whose first text is lower than it, or it is the first text in the next block.
    for (; at < texts.length; place += 1) {
      const shared = numberAt(texts, at);
      at += countBytes(shared);
      const own = numberAt(texts, at);
      at += countBytes(own);
      const length = shared + own;
      if (length > this.#text.length) this.#text = Buffer.concat([this.#text], 2 * length);
      texts.copy(this.#text, shared, at, at + own);
      if (this.#text.compare(bytes, 0, bytes.length, 0, length) >= 0) return [place, length];
      at += own;
    }
    return [place, 0];
  }

  /** Returns the number of blocks whose first text is lower than the given one. */
  #blocksBefore(bytes: Buffer): number {
    let [low, high] = [0, this.#blocks.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      // The first text in a block shares no bytes, which is encoded as a single byte.
      const at = (this.#blocks[middle] ?? 0) + 1;
      const own = numberAt(this.#texts, at);
      const from = at + countBytes(own);
      if (this.#texts.compare(bytes, 0, bytes.length, from, from + own) < 0) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Decodes a number in `texts`: seven bits per byte, lowest bits first. */
function numberAt(bytes: Buffer, from: number): number {
  let value = 0;
  for (let at = from, shift = 0; ; at += 1, shift += 7) {
    const byte = bytes[at] ?? 0;
    value |= (byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
}

/** Returns the number of bytes that an encoded number takes up. */
function countBytes(number: number): number {
  let bytes = 1;
  for (let rest = number >>> 7; rest > 0; rest >>>= 7) bytes += 1;
  return bytes;
}

/** Returns a number in the encoding that `texts` uses. */
export function asBytes(number: number): number[] {
  const bytes: number[] = [];
  let rest = number;
  for (; rest >= 0x80; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
  return bytes;
}
