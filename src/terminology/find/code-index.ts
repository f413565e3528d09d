/** What a code system's codes are found by, in memory: their beginnings, those of names, words, and what is like words. */
import { plainWords } from '#src/shared/plain-words.ts';
import { type Ascending, common, ofLists, ofNumbers } from './ascending.ts';
import { TextLists, type TextListsBytes } from './text-lists.ts';
import { similarity, trigramsOf } from './trigrams.ts';

/**
 * The bytes of an index. A code's rank is its number among those of the system by the length of their names, then by
 * their places; lists are ascending. Codes that their publisher has given up are not among them.
 */
export interface CodeIndexBytes {
  /** Codes, each with its place. */
  readonly codes: TextListsBytes;
  /** Names as `plainWords` has them, with the ranks of those that are called so. */
  readonly names: TextListsBytes;
  /** Words of names, with the ranks of those that have them. */
  readonly words: TextListsBytes;
  /** Groups of three letters, with the numbers of the words that have them. */
  readonly trigrams: TextListsBytes;
  /** Places by rank. */
  readonly places: ArrayBuffer;
}

/** Most words of what is typed that count. */
const WORDS = 10;
/** How many words are taken for one that nothing begins with, and how like it they must be. */
const NEAREST = 3;
const LIKE = 0.3;
/** Lists of so many texts are gone through as they are; those of more are put together first. */
const FEW = 16;

/** The index of one code system. */
export class CodeIndex {
  readonly #codes: TextLists;
  readonly #names: TextLists;
  readonly #words: TextLists;
  readonly #trigrams: TextLists;
  readonly #places: Uint32Array;
  /** No place is as high. */
  readonly #end: number;
  /** Of each word how many groups of three letters it has. */
  readonly #sizes: Uint16Array;

  constructor({ codes, names, words, trigrams, places }: CodeIndexBytes) {
    this.#codes = new TextLists(codes);
    this.#names = new TextLists(names);
    this.#words = new TextLists(words);
    this.#trigrams = new TextLists(trigrams);
    this.#places = new Uint32Array(places);
    this.#end = this.#places.reduce((end, place) => Math.max(end, place + 1), 0);
    this.#sizes = new Uint16Array(this.#words.size);
    const having = this.#trigrams.numbers(0, this.#trigrams.size);
    for (let nth = 0; nth < having.length; nth += 1) {
      const word = having[nth] ?? 0;
      this.#sizes[word] = (this.#sizes[word] ?? 0) + 1;
    }
  }

  /**
   * The places of the codes that somebody means, the best first: the code itself; codes that begin so, in the order of
   * the system; names that begin so, and names with all the words, or with words that begin so, the shortest first. A
   * word that nothing begins with stands for those most like it.
   */
  find(typed: string, limit: number): readonly number[] {
    const found = new Set<number>();
    for (const place of this.#found(typed)) {
      if (found.size === limit) break;
      found.add(place);
    }
    return [...found];
  }

  *#found(typed: string): Generator<number> {
    const code = typed.trim().toUpperCase();
    const same = this.#codes.placeOf(code);
    if (same !== undefined) yield* this.#codes.numbers(same, same + 1);
    yield* common([beginning(this.#codes, code, this.#end)]);
    const name = plainWords(typed);
    if (name === '') return;
    const ranks = this.#places.length;
    yield* this.#placesOf([beginning(this.#names, name, ranks)]);
    const words = [...new Set(name.split(' '))].slice(0, WORDS);
    const meant: Ascending[] = [];
    for (const word of words) {
      const ranks = this.#meant(word);
      if (ranks.from(0) === undefined) return;
      meant.push(ranks);
    }
    yield* this.#placesOf(meant);
  }

  /** Places of the ranks that all have. */
  *#placesOf(all: readonly Ascending[]): Generator<number> {
    for (const rank of common(all)) yield this.#places[rank] ?? 0;
  }

  /** The ranks of names with the words that one stands for. */
  #meant(word: string): Ascending {
    const begun = beginning(this.#words, word, this.#places.length);
    if (begun.from(0) !== undefined) return begun;
    return ofLists(this.#nearest(word).map((number) => this.#words.numbers(number, number + 1)));
  }

  /** The words most like one: of those that are as like it the ones that more codes have, then the first. */
  #nearest(word: string): number[] {
    const trigrams = trigramsOf(word);
    const had = new Uint16Array(this.#words.size);
    const touched: number[] = [];
    for (const trigram of trigrams) {
      const place = this.#trigrams.placeOf(trigram);
      if (place === undefined) continue;
      const others = this.#trigrams.numbers(place, place + 1);
      // By number: V8 takes several times as long by iterator.
      for (let nth = 0; nth < others.length; nth += 1) {
        const other = others[nth] ?? 0;
        const before = had[other] ?? 0;
        if (before === 0) touched.push(other);
        had[other] = before + 1;
      }
    }
    const like = (other: number) => similarity(had[other] ?? 0, trigrams.length, this.#sizes[other] ?? 0);
    const codes = (other: number) => this.#words.numbers(other, other + 1).length;
    const enough = LIKE * trigrams.length;
    return touched
      .filter((other) => (had[other] ?? 0) >= enough && like(other) >= LIKE)
      .sort((one, other) => like(other) - like(one) || codes(other) - codes(one) || one - other)
      .slice(0, NEAREST);
  }
}

/** The numbers of all texts that begin so. @param below no number is as high. */
function beginning(texts: TextLists, text: string, below: number): Ascending {
  const [from, to] = texts.beginning(text);
  if (to - from > FEW) return ofNumbers(texts.numbers(from, to), below);
  return ofLists(Array.from({ length: to - from }, (_, nth) => texts.numbers(from + nth, from + nth + 1)));
}
