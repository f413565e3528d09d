/** Finds a code system's codes in memory: by the beginnings of codes and names, by words, and by similar words. */
import { plainWords } from '#src/shared/plain-words.ts';
import { type Ascending, common, ofLists, ofNumbers } from './ascending.ts';
import { TextLists, type TextListsBytes } from './text-lists.ts';
import { similarity, trigramsOf } from './trigrams.ts';

/**
 * The bytes of an index. A code's rank is its position in the system ordered by length of the name, then by place;
 * lists are ascending. Codes that their publisher withdrew are left out.
 */
export interface CodeIndexBytes {
  /** Codes, each with its place. */
  readonly codes: TextListsBytes;
  /** Names in the form of `plainWords`, with the ranks of the codes that have them. */
  readonly names: TextListsBytes;
  /** Words of names, with the ranks of the codes that have them. */
  readonly words: TextListsBytes;
  /** Groups of three letters, with the numbers of the words that contain them. */
  readonly trigrams: TextListsBytes;
  /** Places by rank. */
  readonly places: ArrayBuffer;
}

/** Maximum number of words of a query; later ones are ignored. */
const WORDS = 10;
/** How many similar words replace a word that begins no known word, and how similar they must be. */
const NEAREST = 3;
const LIKE = 0.3;
/** Lists of up to this many texts are searched separately; more are merged first. */
const FEW = 16;

/** The index of one code system. */
export class CodeIndex {
  readonly #codes: TextLists;
  readonly #names: TextLists;
  readonly #words: TextLists;
  readonly #trigrams: TextLists;
  readonly #places: Uint32Array;
  /** All places are lower. */
  readonly #end: number;
  /** The number of groups of three letters of each word. */
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
   * Returns the places of matching codes, best first: the code itself; codes that begin with the text, in the order of
   * the system; names that begin with it; then names that have, for each typed word, a word that begins with it.
   * Shorter names come first. A typed word with which no known word begins is replaced by the most similar words.
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

  /** Yields the places of the ranks that all inputs have. */
  *#placesOf(all: readonly Ascending[]): Generator<number> {
    for (const rank of common(all)) yield this.#places[rank] ?? 0;
  }

  /** Returns the ranks of names with the words that a query's word matches. */
  #meant(word: string): Ascending {
    const begun = beginning(this.#words, word, this.#places.length);
    if (begun.from(0) !== undefined) return begun;
    return ofLists(this.#nearest(word).map((number) => this.#words.numbers(number, number + 1)));
  }

  /** Returns the most similar words; among equally similar ones those that more codes have, then the first. */
  #nearest(word: string): number[] {
    const trigrams = trigramsOf(word);
    const had = new Uint16Array(this.#words.size);
    const touched: number[] = [];
    for (const trigram of trigrams) {
      const place = this.#trigrams.placeOf(trigram);
      if (place === undefined) continue;
      const others = this.#trigrams.numbers(place, place + 1);
      // An index loop, because V8 takes several times as long with an iterator.
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

/**
 * Returns the numbers of all texts with a beginning.
 * @param below all numbers are lower.
 */
function beginning(texts: TextLists, text: string, below: number): Ascending {
  const [from, to] = texts.beginning(text);
  if (to - from > FEW) return ofNumbers(texts.numbers(from, to), below);
  return ofLists(Array.from({ length: to - from }, (_, nth) => texts.numbers(from + nth, from + nth + 1)));
}
