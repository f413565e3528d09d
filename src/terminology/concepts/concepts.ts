/** Finds concepts and describes them (docs/spec/decisions.md, section 4: Concepts). */
import type { Pool } from 'pg';
import { LOINC } from '../bundled/bundled.ts';
import { readDisplays } from '../codes.ts';
import { BUNDLED_LANGUAGE } from './bundled.ts';
import { ConceptSet } from './concept-set.ts';
import type { ConceptCode, ConceptType, Relation } from './entry.ts';
import { type Concept, type EntryRow, mergeEntries } from './merge.ts';
import { CONCEPTS_MADE } from './store.ts';

export type FoundConcept = Omit<Concept, 'relations'>;

/** Concepts, and their total number. */
export interface FoundConcepts {
  readonly concepts: readonly FoundConcept[];
  readonly total: number;
}

/** Concepts, in the order of their names. */
export interface ListedConcepts extends FoundConcepts {
  /** True if more concepts follow. */
  readonly more: boolean;
}

/** The name of a relation: a relation of the concept itself, or the inverse of another concept's relation to it. */
export type RelatedAs = Relation | 'has_symptom' | 'treats' | 'has_part';

/** A relation from a concept to another concept or to a code. */
export interface RelatedConcept {
  readonly relation: RelatedAs;
  readonly concept: { readonly conceptId: string; readonly type: ConceptType } | null;
  readonly code: ConceptCode | null;
  readonly display: string | null;
}

/** Answers queries about concepts. Languages are tags (BCP 47); for an unknown tag, English is used. */
export interface Concepts {
  /**
   * Finds concepts by typed text, best matches first.
   * @param type undefined for all types
   */
  find(typed: string, type: ConceptType | undefined, limit: number, lang: string): Promise<FoundConcepts>;
  /**
   * Lists the concepts of a type, in the order of their names.
   * @param after the id of the last concept on the previous page
   * @returns undefined if that concept doesn't exist
   */
  list(type: ConceptType, limit: number, lang: string, after?: string): Promise<ListedConcepts | undefined>;
  /** Returns a concept with its relations; undefined if the concept is unknown. */
  describe(
    conceptId: string,
    lang: string,
  ): Promise<(FoundConcept & { readonly related: readonly RelatedConcept[] }) | undefined>;
}

/** The inverses of relations between concepts. */
const INVERSE: Readonly<Record<Exclude<Relation, 'measured_by'>, RelatedAs>> = {
  symptom_of: 'has_symptom',
  treated_with: 'treats',
  part_of: 'has_part',
};

const COLUMNS = 'e.concept_id, e.lang, e.loaded, e.type, e.display, e.synonyms, e.codes, e.relations';

// Index: the primary key of concept_entry.
const BY_IDS = `
  select (select m.fingerprint from terminology.made m where m.what = $1) as version, ${COLUMNS}
  from (values (1)) one left join terminology.concept_entry e on e.concept_id = any($2::text[])`;

// Index: concept_entry_by_target.
const BY_TARGET = `
  select ${COLUMNS} from terminology.concept_entry e
  where e.relations @> jsonb_build_array(jsonb_build_object('target', $1::text))`;

const ALL = `select ${COLUMNS} from terminology.concept_entry e`;

/** One version of the concepts, as an instance caches it. */
interface Version {
  readonly version: string | null;
  readonly languages: ReadonlySet<string>;
  readonly sets: Map<string, Promise<ConceptSet>>;
}

/**
 * Creates the queries on a database's concepts. Each language is kept in memory after its first query. Every answer is read
 * from the database, which also shows whether the concepts have changed in the meantime.
 * @param ready resolves when the bundled concepts are installed
 */
export function openConcepts(pool: Pool, ready: () => Promise<void>): Concepts {
  let held: Promise<Version> | undefined;
  const current = (): Promise<Version> => {
    held ??= readVersion(pool).catch((error: unknown) => {
      held = undefined;
      throw error;
    });
    return held;
  };
  /**
   * Queries a set, and then reads the concepts that the set returns from the database. If the concepts have changed, repeats
   * both.
   */
  const ask = async <T>(
    lang: string,
    question: (set: ConceptSet) => { readonly ids: readonly string[]; readonly rest: T } | undefined,
  ): Promise<{ readonly concepts: readonly Concept[]; readonly rest: T } | undefined> => {
    await ready();
    for (;;) {
      const asked = current();
      const version = await asked;
      const tag = findLanguage(version.languages, lang);
      const answer = question(await loadSet(pool, version, tag));
      const { rows } = await pool.query<EntryRow & { version: string | null }>({
        name: 'concepts-by-ids',
        text: BY_IDS,
        values: [CONCEPTS_MADE, answer?.ids ?? []],
      });
      if (rows[0]?.version === version.version) {
        if (answer === undefined) return undefined;
        return { concepts: inOrder(answer.ids, merged(rows, tag)), rest: answer.rest };
      }
      if (held === asked) held = undefined;
    }
  };
  return {
    async find(typed, type, limit, lang) {
      const answer = await ask(lang, (set) => {
        const { ids, total } = set.find(typed, type, limit);
        return { ids, rest: total };
      });
      return { concepts: answer?.concepts ?? [], total: answer?.rest ?? 0 };
    },
    async list(type, limit, lang, after) {
      const answer = await ask(lang, (set) => {
        const page = set.page(type, limit, after);
        return page && { ids: page.ids, rest: { total: page.total, more: page.more } };
      });
      return answer && { concepts: answer.concepts, ...answer.rest };
    },
    async describe(conceptId, lang) {
      const answer = await ask(lang, () => ({ ids: [conceptId], rest: undefined }));
      const [concept] = answer?.concepts ?? [];
      if (concept === undefined) return undefined;
      const { rows } = await pool.query<EntryRow>({
        name: 'concepts-by-target',
        text: BY_TARGET,
        values: [conceptId],
      });
      const links = [
        ...concept.relations.map(({ relation, target }) => ({ relation, as: asRelated(relation), target })),
        ...rows.flatMap(({ concept_id: target, relations }) =>
          relations.flatMap(({ relation, target: to }) =>
            to === conceptId && relation !== 'measured_by' ? { relation, as: INVERSE[relation], target } : [],
          ),
        ),
      ].filter(
        ({ as, target }, at, all) => all.findIndex((one) => one.as === as && one.target === target) === at,
      );
      const ids = links.flatMap(({ relation, target }) => (relation === 'measured_by' ? [] : target));
      const codes = links.flatMap(({ relation, target }) =>
        relation === 'measured_by' ? { system: LOINC, code: target } : [],
      );
      const others = await ask(lang, () => ({ ids: [...new Set(ids)], rest: undefined }));
      const displays = await readDisplays(pool, codes);
      const byId = new Map((others?.concepts ?? []).map((each) => [each.conceptId, each]));
      const related = links.flatMap(({ relation, as, target }): RelatedConcept[] => {
        if (relation === 'measured_by') {
          const code = { system: LOINC, code: target };
          return [{ relation: as, concept: null, code, display: displays.get(`${LOINC}|${target}`) ?? null }];
        }
        const other = byId.get(target);
        if (other === undefined) return [];
        const { type, display } = other;
        return [{ relation: as, concept: { conceptId: target, type }, code: null, display }];
      });
      return { ...concept, related };
    },
  };
}

async function readVersion(pool: Pool): Promise<Version> {
  const { rows } = await pool.query<{ version: string | null; languages: string[] }>(
    `select (select m.fingerprint from terminology.made m where m.what = $1) as version,
       array(select distinct e.lang from terminology.concept_entry e) as languages`,
    [CONCEPTS_MADE],
  );
  return { version: rows[0]?.version ?? null, languages: new Set(rows[0]?.languages), sets: new Map() };
}

/**
 * Returns the best match for a tag among `languages`: the tag itself, otherwise its beginning (`de` for `de-AT`), otherwise
 * English.
 */
function findLanguage(languages: ReadonlySet<string>, tag: string): string {
  const parts = tag.toLowerCase().split('-');
  for (let many = parts.length; many > 0; many -= 1) {
    const beginning = parts.slice(0, many).join('-');
    if (languages.has(beginning)) return beginning;
  }
  return BUNDLED_LANGUAGE;
}

function loadSet(pool: Pool, { sets }: Version, lang: string): Promise<ConceptSet> {
  const before = sets.get(lang);
  if (before !== undefined) return before;
  const loading = pool.query<EntryRow>(ALL).then(({ rows }) =>
    ConceptSet.of(
      mergeEntries(rows, lang).map(({ codes, ...concept }) => ({
        ...concept,
        codes: codes.map(({ code }) => code),
      })),
    ),
  );
  sets.set(lang, loading);
  loading.catch(() => sets.delete(lang));
  return loading;
}

function asRelated(relation: Relation): RelatedAs {
  return relation;
}

/** Merges the rows of a left join; a row without a match has no id. */
function merged(rows: readonly EntryRow[], lang: string): Concept[] {
  return mergeEntries(
    rows.filter((row) => row.concept_id !== null),
    lang,
  );
}

function inOrder(ids: readonly string[], concepts: readonly Concept[]): Concept[] {
  const byId = new Map(concepts.map((concept) => [concept.conceptId, concept]));
  return ids.flatMap((id) => byId.get(id) ?? []);
}
