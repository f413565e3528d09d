/** Builds an index for texts that aren't stored as a code system. */
import { CodeIndex, type CodeIndexBytes } from './code-index.ts';
import type { Part } from './pieces.ts';
import { splitTrigrams } from './trigrams.ts';
import { type TextList, writeLists } from './write-lists.ts';

/** A text that can be found. Its place is its index in the list. */
export interface IndexedText {
  /** In the form of `plainWords`. */
  readonly folded: string;
  /** Codes, in upper case, by which the text can also be found. */
  readonly codes: readonly string[];
}

/** The number of texts to pass on at a time. */
const BATCH = 1_000;

/** Returns an index that returns places in the list. */
export async function indexInMemory(texts: readonly IndexedText[]): Promise<CodeIndex> {
  const places = texts
    .map((_, place) => place)
    .sort((one, other) => textLength(texts, one) - textLength(texts, other) || one - other);
  const names = new Map<string, number[]>();
  const words = new Map<string, number[]>();
  places.forEach((place, rank) => {
    const folded = texts[place]?.folded ?? '';
    if (folded === '') return;
    for (const name of new Set([folded, folded.replaceAll(' ', '')])) note(names, name, rank);
    for (const word of new Set(folded.split(' '))) note(words, word, rank);
  });
  const codes = new Map<string, number[]>();
  texts.forEach((text, place) => {
    for (const code of new Set(text.codes)) note(codes, code, place);
  });
  const trigrams = new Map<string, number[]>();
  inByteOrder(words).forEach(([word], number) => {
    for (const trigram of splitTrigrams(word)) note(trigrams, trigram, number);
  });
  const parts = new Map<string, Collected>();
  const begin = (name: string): Part => {
    const part = new Collected();
    parts.set(name, part);
    return part;
  };
  const lists = async (name: string, of: ReadonlyMap<string, readonly number[]>) => {
    await writeLists(begin, name, batches(of));
    const bytes = (part: string) => parts.get(`${name}.${part}`)?.bytes() ?? new ArrayBuffer(0);
    return {
      texts: bytes('texts'),
      blocks: bytes('blocks'),
      starts: bytes('starts'),
      numbers: bytes('numbers'),
    };
  };
  const all: CodeIndexBytes = {
    codes: await lists('codes', codes),
    names: await lists('names', names),
    words: await lists('words', words),
    trigrams: await lists('trigrams', trigrams),
    places: Uint32Array.from(places).buffer,
  };
  return new CodeIndex(all);
}

function textLength(texts: readonly IndexedText[], place: number): number {
  return texts[place]?.folded.length ?? 0;
}

function note(lists: Map<string, number[]>, text: string, number: number): void {
  const numbers = lists.get(text);
  if (numbers === undefined) lists.set(text, [number]);
  else numbers.push(number);
}

type Entry = readonly [text: string, numbers: readonly number[]];

function inByteOrder(lists: ReadonlyMap<string, readonly number[]>): Entry[] {
  return [...lists].sort(([one], [other]) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
}

function* batches(lists: ReadonlyMap<string, readonly number[]>): Generator<readonly TextList[]> {
  const entries = inByteOrder(lists);
  for (let at = 0; at < entries.length; at += BATCH)
    yield entries
      .slice(at, at + BATCH)
      .map(([text, numbers]): TextList => [text, Buffer.from(Uint32Array.from(numbers).buffer)]);
}

/** A part that stays in memory. */
class Collected implements Part {
  readonly #pieces: Buffer[] = [];

  append(bytes: Uint8Array | Uint32Array): void {
    this.#pieces.push(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  }

  async write(): Promise<void> {}

  /** Returns a copy of all bytes. */
  bytes(): ArrayBuffer {
    const length = this.#pieces.reduce((sum, piece) => sum + piece.length, 0);
    const all = new Uint8Array(length);
    let at = 0;
    for (const piece of this.#pieces) {
      all.set(piece, at);
      at += piece.length;
    }
    return all.buffer;
  }
}
