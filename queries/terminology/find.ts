/** Codes of a code system by what somebody types: a code, the beginning of a name, some of its words, or nearly that. */
import { plainWords } from '#src/shared/plain-words.ts';
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

/** Of each way of finding so many are ranked, however few are asked for: the most that may be. */
const RANKED = 50;
/** Codes of the rarest word that are looked at, the shortest names first. */
const LOOKED_AT = 500;
/** Words that a beginning stands for, and that are taken for one that nothing begins with. */
const ENDINGS = 20;
const NEAREST = 3;

// Indexes: primary key of terminology.word (system, word); word_by_likeness alone, for what nothing begins with: together
// with the other one it would read all words of the system.
const MEANT = `
  select t.word as typed, b.words as beginning, b.codes, case when b.words is null then array(
      select w.word from terminology.word w where (w.system = s.id) is true and w.word % t.word
      order by similarity(w.word, t.word) desc, w.codes desc limit ${NEAREST}) end as nearest
  from terminology.system s cross join unnest($2::text[]) t(word)
  cross join lateral (
    select array_agg(w.word order by w.word) as words, sum(w.codes)::int as codes from (
      select w.word, w.codes from terminology.word w
      where w.system = s.id and w.word >= t.word and w.word < t.word || chr(1114111)
      order by w.word limit ${ENDINGS}) w) b
  where s.url = $1`;

interface Meant {
  readonly typed: string;
  readonly beginning: readonly string[] | null;
  readonly codes: number | null;
  readonly nearest: readonly string[] | null;
}

/**
 * Indexes: concept_by_code, concept_by_beginning, primary keys of terminology.posting and concept. `$2` code, `$3` folded
 * text, `$4` words of which a name must have one, `$5` most answers, `$6` patterns of which it must meet all, and then
 * lists of words, of each of which it must have one: by a look-up in the index of words, a quarter of what it takes to
 * read a name and look through it.
 * @param lists how many.
 */
const findIn = (lists: number): string => `
  with s as materialized (select s.id from terminology.system s where s.url = $1),
  found as (
    (select c.system, c.code, case when c.code = $2 then 0 else 1 end as rank
      from s cross join lateral (
        select c.system, c.code from terminology.concept c
        where c.system = s.id and c.code collate "C" >= $2 and c.code collate "C" < $2 || chr(1114111) and c.active
        order by c.code collate "C" limit ${RANKED}) c)
    union all
    (select c.system, c.code, 2 from s cross join lateral (
        select c.system, c.code from terminology.concept c
        where c.system = s.id and c.folded >= $3 and c.folded < $3 || chr(1114111) and $3 <> '' and c.active
        order by c.folded limit ${RANKED}) c)
    union all
    (select s.id, p.code, 3 from s cross join lateral (
        select p.code from (
          select p.code, p.length, k.nth from unnest($4::text[]) with ordinality k(word, nth) cross join lateral (
            select p.code, p.length from terminology.posting p
            where p.system = s.id and p.word = k.word order by p.length, p.code limit ${LOOKED_AT}) p
          order by k.nth, p.length limit ${LOOKED_AT}) p
        where (cardinality($6::text[]) = 0 or (
          select ' ' || c.folded like all($6::text[])
          from terminology.concept c where c.system = s.id and c.code = p.code))
          ${Array.from({ length: lists }, (_, n) => hasOneOf(`$${7 + n}::text[]`)).join('\n')}
        limit ${RANKED}) p)
  )
  select c.code, c.display, c.category, c.unit
  from (select f.system, f.code, min(f.rank) as rank from found f group by f.system, f.code) f
  cross join lateral (
    select c.code, c.display, c.category, c.unit, c.folded, c.place from terminology.concept c
    where c.system = f.system and c.code = f.code offset 0) c
  order by f.rank, case when f.rank > 1 then length(c.folded) end, c.place limit $5`;

/** Whether a posting's name has one of some words, too. */
const hasOneOf = (words: string): string => `and (select true from terminology.posting o
            where o.system = s.id and o.word = any(${words}) and o.length = p.length and o.code = p.code limit 1)`;

/** Opens it over a database. @param ready resolves when the bundled terminology is there. */
export function openFindCodes(pool: Asks, ready: () => Promise<void>): FindCodes {
  return async (system, typed, limit) => {
    await ready();
    const words = wordsOf(typed);
    const values = [system, words];
    const { rows: meant } = await pool.query<Meant>({ name: 'codes-meant', text: MEANT, values });
    const [rarest, ...others] = meant.sort((one, other) => countOf(one) - countOf(other));
    const some = rarest === undefined ? [] : (rarest.beginning ?? rarest.nearest ?? []);
    const lists = others.flatMap((each) => {
      const meaning = allWords(each);
      return meaning === undefined ? [] : [meaning];
    });
    const patterns = others.filter((each) => allWords(each) === undefined).map((each) => `% ${each.typed}%`);
    const { rows } = await pool.query<FoundCode>({
      name: `codes-find-${lists.length}`,
      text: findIn(lists.length),
      values: [
        ...[system, typed.trim().toUpperCase(), plainWords(typed), some],
        ...[limit, patterns, ...lists],
      ],
    });
    return rows;
  };
}

/** What nothing begins with is the rarest; what nothing is like is met by no name. */
function countOf({ codes }: Meant): number {
  return codes ?? 0;
}

/** The words that one stands for; undefined when it begins more than were looked at. */
function allWords({ beginning, nearest }: Meant): readonly string[] | undefined {
  if (beginning === null) return nearest ?? [];
  return beginning.length < ENDINGS ? beginning : undefined;
}

/** Most words that count. */
const WORDS = 10;

function wordsOf(typed: string): string[] {
  return [...new Set(plainWords(typed).split(' '))].filter((word) => word !== '').slice(0, WORDS);
}
