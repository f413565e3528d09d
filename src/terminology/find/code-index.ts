/**
 * Finds codes of a code system in memory: by the code, by a name, by words in any spelling, by beginnings of these, and by
 * similar words.
 */
import { distance } from '#src/shared/nearest.ts';
import { plainWords } from '#src/terminology/plain-words.ts';
import { type Ascending, common, ofLists, ofNumbers } from './ascending.ts';
import { listSpellings, tellingWords } from './spellings.ts';
import { TextLists, type TextListsBytes } from './text-lists.ts';
import { similarity, splitTrigrams } from './trigrams.ts';

/**
 * The bytes of an index. A code's rank is its position when the system's codes are sorted by how common they are (if known),
 * then by the length of the name, then by place. Lists are ascending. Codes that their publisher withdrew are left out.
 */
export interface CodeIndexBytes {
  /** Codes, each with its place in the system. */
  readonly codes: TextListsBytes;
  /** Names in the form of `plainWords`, with the ranks of the codes that have them. */
  readonly names: TextListsBytes;
  /** Words in names, with the ranks of the codes that have them. */
  readonly words: TextListsBytes;
  /** Groups of three letters, each with the numbers of the words that contain it. */
  readonly trigrams: TextListsBytes;
  /** Places by rank. */
  readonly places: ArrayBuffer;
}

/** Maximum number of words in a query; later words are ignored. */
const WORDS = 10;
/**
 * The number of similar words that replace a word if no known word begins with it, and the minimum similarity of replacements
 * that differ in more than a few letters.
 */
const NEAREST = 3;
const LIKE = 0.3;
/**
 * The minimum similarity of a word if no more similar word differs in only a few letters. Two words are still this similar if
 * two of five letters are swapped.
 */
const COMPARABLE = 0.1;
/** One difference is tolerated for each group of this many letters in a word. */
const LETTERS_PER_DIFFERENCE = 3;
/**
 * Words shorter than this aren't replaced: nearly all of them are one letter away from an abbreviation with a different
 * meaning.
 */
const SHORTEST_REPLACED = 4;
/** Words up to this length, which are usually abbreviations, don't replace other words. */
const ABBREVIATION = 3;
/** The number of words that are compared letter by letter: those that share the most groups of three letters. */
const COMPARED = 20;
/** Maximum number of combinations of spellings that are looked up as a name. */
const COMBINATIONS = 32;
/**
 * The number at which counting stops. Two letters match most codes in a large system, and counting all of them would take 50
 * ms.
 */
const MOST_COUNTED = 1_000;
/** Up to this many texts, their lists are searched separately; if there are more, the lists are merged first. */
const FEW = 16;

/** The places that match a text best. */
export interface FoundPlaces {
  readonly places: readonly number[];
  /** The number of all matches, at most `MOST_COUNTED`. */
  readonly total: number;
}

/** The index for one code system. */
export class CodeIndex {
  readonly #codes: TextLists;
  readonly #names: TextLists;
  readonly #words: TextLists;
  readonly #trigrams: TextLists;
  readonly #places: Uint32Array;
  /** A number that is greater than all places. */
  readonly #end: number;
  /** The number of groups of three letters in each word. */
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
   * Returns the places of matching codes, best matches first: the code itself; codes that begin with the text, in the order of
   * the system; codes with that name; codes whose names contain all words; codes whose names begin with the text; codes whose
   * names contain, for each word, a word that begins with it. Words may be in another spelling, and words that say nothing
   * about a code may be missing from its name. If no known word begins with a word of the text, the most similar words are
   * used instead. If nothing is found, all words are replaced in this way. Among equally good matches, the lower rank comes
   * first.
   * @param limit on the number of places; the total doesn't depend on the limit if the limit is at most `MOST_COUNTED`
   */
  find(typed: string, limit: number): FoundPlaces {
    const most = Math.max(limit, MOST_COUNTED);
    // A place may match in several ways.
    const found = new Set<number>();
    for (const place of this.#found(typed)) {
      if (found.size === most) break;
      found.add(place);
    }
    return { places: [...found].filter((_, nth) => nth < limit), total: found.size };
  }

  *#found(typed: string): Generator<number> {
    const code = typed.trim().toUpperCase();
    const same = this.#codes.findPlace(code);
    if (same !== undefined) yield* this.#codes.numbers(same, same + 1);
    yield* common([beginning(this.#codes, code, this.#end)]);
    if (plainWords(typed) === '') return;
    const name = plainWords(typed.replaceAll('%', ' percent '));
    const words = [...new Set(name.split(' '))].slice(0, WORDS);
    const telling = tellingWords(words);
    const texts = telling.length === words.length ? [words] : [words, telling];
    const meant = new Map(words.map((word) => [word, this.#known(listSpellings(word))]));
    const whole = (word: string): readonly number[] => meant.get(word) ?? [];
    yield* this.#listPlaces([this.#named([name, name.replaceAll(' ', '')])]);
    for (const text of texts) yield* this.#listPlaces([this.#named(this.#combined(text, whole))]);
    for (const text of texts) yield* this.#listPlaces(text.map((word) => this.#having(whole(word))));
    yield* this.#listPlaces([beginning(this.#names, name, this.#places.length)]);
    const near = new Map<string, readonly number[]>();
    const similar = (word: string): readonly number[] => {
      const known = near.get(word) ?? this.#nearest(word);
      near.set(word, known);
      return known;
    };
    const begun = (word: string): Ascending => {
      const [from, to] = this.#words.beginning(word);
      if (to > from) return beginning(this.#words, word, this.#places.length);
      return this.#having(whole(word).length > 0 ? whole(word) : similar(word));
    };
    const corrected = (word: string): readonly number[] => {
      const [from, to] = this.#words.beginning(word);
      return to > from || whole(word).length > 0 ? whole(word) : similar(word);
    };
    for (const text of texts) yield* this.#listPlaces([this.#named(this.#combined(text, corrected))]);
    let any = false;
    for (const text of texts)
      for (const place of this.#listPlaces(text.map(begun))) {
        any = true;
        yield place;
      }
    if (any) return;
    const either = (word: string): Ascending => this.#having([...whole(word), ...similar(word)]);
    for (const text of texts) yield* this.#listPlaces(text.map(either));
  }

  /** Yields the places for the ranks that all inputs have in common. */
  *#listPlaces(all: readonly Ascending[]): Generator<number> {
    for (const rank of common(all)) yield this.#places[rank] ?? 0;
  }

  /** Returns the numbers of those words that are known. */
  #known(words: readonly string[]): readonly number[] {
    return words.flatMap((word) => this.#words.findPlace(word) ?? []);
  }

  /**
   * Returns the ranks of codes whose names contain at least one of the words.
   * @param words the words' numbers
   */
  #having(words: readonly number[]): Ascending {
    const lists = words.map((number) => this.#words.numbers(number, number + 1));
    return ofLists(lists);
  }

  /** Returns the ranks of codes that have at least one of the names. */
  #named(names: readonly string[]): Ascending {
    const lists = [...new Set(names)].flatMap((name) => {
      const place = this.#names.findPlace(name);
      return place === undefined ? [] : [this.#names.numbers(place, place + 1)];
    });
    return ofLists(lists);
  }

  /** Returns all texts in which each word is replaced by one of its meanings, both with and without blanks. */
  #combined(words: readonly string[], meanings: (word: string) => readonly number[]): readonly string[] {
    let texts: readonly string[] = [''];
    for (const word of words) {
      const known = meanings(word).map((number) => this.#words.textAt(number));
      texts = texts
        .flatMap((text) => known.map((each) => (text === '' ? each : `${text} ${each}`)))
        .slice(0, COMBINATIONS);
    }
    return texts.flatMap((text) => [text, text.replaceAll(' ', '')]);
  }

  /**
   * Returns the known words that differ from a word in the fewest letters, if these are few for the word's length; otherwise,
   * the words that are most similar by groups of three letters. Among equally similar words, words in more codes come first,
   * then words with a lower number. Returns nothing for words that are too short; for words with four letters, returns only
   * longer words with one difference. Never returns abbreviations, or words that begin with a different letter.
   */
  #nearest(word: string): readonly number[] {
    if (word.length < SHORTEST_REPLACED) return [];
    const least = Math.max(ABBREVIATION, word.length === SHORTEST_REPLACED ? word.length : 0) + 1;
    const mayReplace = (other: number): boolean => {
      const text = this.#words.textAt(other);
      return text.length >= least && text[0] === word[0];
    };
    const trigrams = splitTrigrams(word);
    const had = new Uint16Array(this.#words.size);
    const touched: number[] = [];
    for (const trigram of trigrams) {
      const place = this.#trigrams.findPlace(trigram);
      if (place === undefined) continue;
      const others = this.#trigrams.numbers(place, place + 1);
      // The loop uses an index, because an iterator takes several times as long in V8.
      for (let nth = 0; nth < others.length; nth += 1) {
        const other = others[nth] ?? 0;
        const before = had[other] ?? 0;
        if (before === 0) touched.push(other);
        had[other] = before + 1;
      }
    }
    const like = (other: number) => similarity(had[other] ?? 0, trigrams.length, this.#sizes[other] ?? 0);
    const codes = (other: number) => this.#words.numbers(other, other + 1).length;
    const few = Math.floor(word.length / LETTERS_PER_DIFFERENCE);
    let similar: readonly number[] = [];
    for (const alike of [LIKE, COMPARABLE]) {
      const enough = alike * trigrams.length;
      const nearest = touched
        .filter((other) => (had[other] ?? 0) >= enough && like(other) >= alike && mayReplace(other))
        .sort((one, other) => like(other) - like(one) || codes(other) - codes(one) || one - other);
      if (alike === LIKE) similar = nearest.slice(0, NEAREST);
      const compared = nearest
        .slice(0, COMPARED)
        .map((other) => ({ other, differences: distance(word, this.#words.textAt(other)) }));
      const fewest = Math.min(...compared.map(({ differences }) => differences));
      if (fewest <= few)
        return compared
          .flatMap(({ other, differences }) => (differences === fewest ? [other] : []))
          .slice(0, NEAREST);
    }
    return word.length === SHORTEST_REPLACED ? [] : similar;
  }
}

/**
 * Returns the numbers of all texts that begin with the given text.
 * @param below greater than all of the numbers
 */
function beginning(texts: TextLists, text: string, below: number): Ascending {
  const [from, to] = texts.beginning(text);
  if (to - from > FEW) return ofNumbers(texts.numbers(from, to), below);
  return ofLists(Array.from({ length: to - from }, (_, nth) => texts.numbers(from + nth, from + nth + 1)));
}
