/** Codes of a code system by what somebody types: a code, the beginning of a name, some of its words, or nearly that. */
import type { Asks } from '../prepared.ts';

/** A code that was found. */
export interface FoundCode {
  readonly code: string;
  readonly display: string | null;
  /** Of observations with it. */
  readonly category: string | null;
  /** UCUM. */
  readonly unit: string | null;
}

/** Finds codes, the best first. @param system the code system's URL; one that is not here has none. */
export type FindCodes = (system: string, typed: string, limit: number) => Promise<readonly FoundCode[]>;

/**
 * Codes with all words of a name are looked at up to this number: those whose names begin as it was typed come first
 * anyway.
 */
const MOST = 500;

/** Of each way of finding so many are ranked, however few are asked for: the most that may be. */
const LONGEST = 50;

// Indexes: concept_by_code, concept_by_beginning, concept_by_words. `$2` code, `$3` folded text, `$4` words.
const FIND = `
  with s as materialized (select s.id from terminology.system s where s.url = $1),
  found as (
    (select c.system, c.code, case when c.code = $2 then 0 else 1 end as rank
      from s cross join lateral (
        select c.system, c.code from terminology.concept c
        where c.system = s.id and c.code collate "C" >= $2 and c.code collate "C" < $2 || chr(1114111) and c.active
        order by c.code collate "C" limit ${LONGEST}) c)
    union all
    (select c.system, c.code, 2 from s cross join lateral (
        select c.system, c.code from terminology.concept c
        where c.system = s.id and c.folded >= $3 and c.folded < $3 || chr(1114111) and $3 <> '' and c.active
        order by c.folded limit ${LONGEST}) c)
    union all
    (select c.system, c.code, 3 from s cross join lateral (
        select c.system, c.code, c.folded from (
          select c.system, c.code, c.folded, c.place from terminology.concept c
          where c.words @@ ('''=' || s.id || ''' & ' || $4)::tsquery and c.active limit ${MOST}) c
        order by length(c.folded), c.place limit ${LONGEST}) c
      where $4 <> '')
  )
  select c.code, c.display, c.category, c.unit
  from (select f.system, f.code, min(f.rank) as rank from found f group by f.system, f.code) f
  cross join lateral (
    select c.code, c.display, c.category, c.unit, c.folded, c.place from terminology.concept c
    where c.system = f.system and c.code = f.code offset 0) c
  order by f.rank, case when f.rank > 1 then length(c.folded) end, c.place limit $5`;

// Indexes: primary key of terminology.word (system, word), word_by_likeness.
const NEAREST = `
  select t.word as typed, exists (
      select from terminology.word w
      where w.system = s.id and w.word >= t.word and w.word < t.word || chr(1114111)) as known,
    array(select w.word from terminology.word w where w.system = s.id and w.word % t.word
      order by similarity(w.word, t.word) desc, w.codes desc limit 3) as nearest
  from terminology.system s cross join unnest($2::text[]) t(word) where s.url = $1`;

/** Opens it over a database. @param ready resolves when the bundled terminology is there. */
export function openFindCodes(pool: Asks, ready: () => Promise<void>): FindCodes {
  const find = async (system: string, typed: string, words: string, limit: number) => {
    const values = [system, typed.trim().toUpperCase(), plainWords(typed), words, limit];
    const { rows } = await pool.query<FoundCode>({ name: 'codes-find', text: FIND, values });
    return rows;
  };
  return async (system, typed, limit) => {
    await ready();
    const words = wordsOf(typed);
    const found = await find(system, typed, words.map(beginsWith).join(' & '), limit);
    if (found.length > 0 || words.length === 0) return found;
    const { rows } = await pool.query<{ typed: string; known: boolean; nearest: string[] }>({
      name: 'codes-nearest',
      text: NEAREST,
      values: [system, words],
    });
    if (rows.some(({ known, nearest }) => !known && nearest.length === 0)) return [];
    const meant = rows.map(({ typed: word, known, nearest }) =>
      known ? beginsWith(word) : `(${nearest.map((each) => `'${each}'`).join(' | ')})`,
    );
    return meant.length === 0 ? [] : find(system, typed, meant.join(' & '), limit);
  };
}

function beginsWith(word: string): string {
  return `'${word}':*`;
}

/** Most words that count. */
const WORDS = 10;

function wordsOf(typed: string): string[] {
  return [...new Set(plainWords(typed).split(' '))].filter((word) => word !== '').slice(0, WORDS);
}

/** A text as `terminology.concept.folded` has displays: without case, accents and ASCII's punctuation. */
export function plainWords(text: string): string {
  return text
    .normalize('NFKD')
    .toLowerCase()
    .replace(/[\u0300-\u036f]+/g, '')
    .replace(/[\s!-/:-@[-`{-~]+/g, ' ')
    .trim();
}
