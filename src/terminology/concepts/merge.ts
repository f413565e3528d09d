/** Merges what different files say about a concept. */
import { BUNDLED_LANGUAGE } from './bundled.ts';
import type { ConceptCode, ConceptRelation, ConceptType } from './entry.ts';

/** A row of `terminology.concept_entry`. */
export interface EntryRow {
  readonly concept_id: string;
  readonly lang: string;
  readonly loaded: boolean;
  readonly type: ConceptType | null;
  readonly display: string;
  readonly synonyms: readonly string[];
  readonly codes: readonly ConceptCode[];
  readonly relations: readonly ConceptRelation[];
}

/** A concept in one language. */
export interface Concept {
  readonly conceptId: string;
  readonly type: ConceptType;
  readonly display: string;
  readonly synonyms: readonly string[];
  readonly codes: readonly ConceptCode[];
  readonly relations: readonly ConceptRelation[];
}

/**
 * Merges rows into concepts in the given language. A concept without text in that language gets its English text, or otherwise
 * its text in another language. Loaded text replaces bundled text; the codes and relations from all of a concept's entries are
 * combined.
 */
export function mergeEntries(rows: Iterable<EntryRow>, lang: string): Concept[] {
  const byConcept = new Map<string, EntryRow[]>();
  for (const row of rows) {
    const entries = byConcept.get(row.concept_id);
    if (entries === undefined) byConcept.set(row.concept_id, [row]);
    else entries.push(row);
  }
  return [...byConcept].flatMap(([conceptId, entries]) => {
    const type = entries.find((entry) => entry.type !== null)?.type;
    const [text] = [...entries].sort(
      (one, other) => rank(one, lang) - rank(other, lang) || (one.lang < other.lang ? -1 : 1),
    );
    if (text === undefined || type === undefined || type === null) return [];
    const { display, synonyms } = text;
    const inOrder = [...entries].sort((one, other) => Number(one.loaded) - Number(other.loaded));
    const codes = distinct(inOrder.flatMap((entry) => entry.codes));
    return {
      conceptId,
      type,
      display,
      synonyms,
      codes,
      relations: distinct(inOrder.flatMap((entry) => entry.relations)),
    };
  });
}

function rank({ lang, loaded }: EntryRow, wanted: string): number {
  const language = lang === wanted ? 0 : lang === BUNDLED_LANGUAGE ? 2 : 4;
  return language + (loaded ? 0 : 1);
}

function distinct<T extends ConceptCode | ConceptRelation>(all: readonly T[]): T[] {
  const seen = new Set<string>();
  return all.filter((each) => {
    const key = Object.values(each).join(' ');
    return !seen.has(key) && seen.add(key);
  });
}
