/** All concepts in one language, as an instance keeps them in memory: with their index and in their order. */
import { plainWords } from '#src/terminology/plain-words.ts';
import type { CodeIndex } from '../find/code-index.ts';
import { type IndexedText, indexInMemory } from '../find/in-memory.ts';
import type { ConceptType } from './entry.ts';

/** A concept with its text in one language. */
export interface NamedConcept {
  readonly conceptId: string;
  readonly type: ConceptType;
  readonly display: string;
  readonly synonyms: readonly string[];
  /** Codes, without their systems. */
  readonly codes: readonly string[];
}

/** The best concepts that match a text. */
export interface FoundIds {
  readonly ids: readonly string[];
  /** The number of all matches. */
  readonly total: number;
}

/** A page of a set's concepts, in the order of their names. */
export interface ConceptPage {
  readonly ids: readonly string[];
  /** The number of all concepts. */
  readonly total: number;
  /** True if more concepts follow. */
  readonly more: boolean;
}

interface Held {
  readonly id: string;
  readonly type: ConceptType;
  /** The key by which concepts are sorted by name. */
  readonly key: string;
}

/** The concepts in one language. */
export class ConceptSet {
  /** For each type, the ids in the order of the names, and each id's position, counted from 1. */
  readonly #byType = new Map<ConceptType, { readonly ids: string[]; readonly places: Map<string, number> }>();

  /** @param concepts in the order of their names; `of` is the number of the concept to which each text belongs */
  private constructor(
    private readonly concepts: readonly Held[],
    private readonly index: CodeIndex,
    private readonly of: Uint32Array,
  ) {
    for (const { id, type } of concepts) {
      const { ids, places } = this.#byType.get(type) ?? { ids: [], places: new Map<string, number>() };
      this.#byType.set(type, { ids, places });
      places.set(id, ids.push(id));
    }
  }

  /** Creates the set for the given concepts. */
  static async of(named: readonly NamedConcept[]): Promise<ConceptSet> {
    const concepts = named
      .map((concept) => ({ concept, key: plainWords(concept.display) }))
      .sort((one, other) => compare([one.key, one.concept.conceptId], [other.key, other.concept.conceptId]));
    const texts: IndexedText[] = [];
    const of: number[] = [];
    concepts.forEach(({ concept: { display, synonyms, codes }, key }, number) => {
      const folded = [key, ...synonyms.map(plainWords)];
      [display, ...synonyms].forEach((_, nth) => {
        texts.push({
          folded: folded[nth] ?? '',
          codes: nth === 0 ? codes.map((code) => code.toUpperCase()) : [],
        });
        of.push(number);
      });
    });
    const held = concepts.map(({ concept: { conceptId: id, type }, key }) => ({ id, type, key }));
    return new ConceptSet(held, await indexInMemory(texts), Uint32Array.from(of));
  }

  /**
   * Returns the ids of the concepts that match a text, best matches first, and the number of matches. A text matches a concept
   * if it is a code or the beginning of a code, the beginning of a name, or the beginnings of some words in a name. If no word
   * begins with a part of the text, the most similar words are used instead.
   * @param type undefined for all types
   */
  find(typed: string, type: ConceptType | undefined, limit: number): FoundIds {
    const found = new Set<string>();
    for (const place of this.index.find(typed, Number.POSITIVE_INFINITY).places) {
      const concept = this.concepts[this.of[place] ?? 0];
      if (concept !== undefined && (type === undefined || concept.type === type)) found.add(concept.id);
    }
    return { ids: [...found].slice(0, limit), total: found.size };
  }

  /**
   * Returns concepts of a type, in the order of their names.
   * @param after the id of the last concept on the previous page
   * @returns undefined if that concept doesn't exist
   */
  page(type: ConceptType, limit: number, after?: string): ConceptPage | undefined {
    const { ids, places } = this.#byType.get(type) ?? { ids: [], places: new Map<string, number>() };
    const from = after === undefined ? 0 : places.get(after);
    if (from === undefined) return undefined;
    return { ids: ids.slice(from, from + limit), total: ids.length, more: ids.length > from + limit };
  }
}

type Key = readonly [name: string, id: string];

function compare([one, oneId]: Key, [other, otherId]: Key): number {
  if (one !== other) return one < other ? -1 : 1;
  return oneId < otherId ? -1 : 1;
}
