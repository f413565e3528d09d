/** Builds a code system's index from its concepts, and reads it from `terminology.code_index`. */
import type { ClientBase } from 'pg';
import { RANK, SYNONYM } from '../bundled/own.ts';
import { foldedSql } from '../schema.ts';
import { CodeIndex } from './code-index.ts';
import { readParts, writePart } from './pieces.ts';
import type { TextListsBytes } from './text-lists.ts';
import { splitTrigrams } from './trigrams.ts';
import { type TextList, writeLists } from './write-lists.ts';

/**
 * Ranks from LOINC's table come after Annal's own ranks, which go up to a few thousand. Rank 0 means that LOINC's table gives
 * none.
 */
const AFTER_OWN = 100_000;

// Selects codes with their rank (see `CodeIndexBytes`). Index: concept_in_order (system, place).
const RANKED = `
  select c.code, c.place, c.folded, c.properties, (row_number() over (
    order by coalesce((c.properties ->> '${RANK}')::int, ${AFTER_OWN} + nullif(c.properties ->> 'COMMON_TEST_RANK', '0')::int),
      length(c.folded), c.place) - 1)::int as rank
  from terminology.concept c where c.system = $1 and c.active`;
const PLACES = `select null as text, int4send(r.place) as numbers from (${RANKED}) r order by r.rank`;
const CODES = `select r.code as text, int4send(r.place) as numbers from (${RANKED}) r order by r.code collate "C"`;
// Selects all names of codes: the publisher's names, and names that people use. Each name is also included without blanks, so
// that "ddimer" finds "D-dimer".
const NAMED = `
  with ranked as (${RANKED}), named as (
    select r.rank, r.folded as name from ranked r where r.folded <> ''
    union all
    select distinct r.rank, n.name from ranked r
    cross join lateral jsonb_array_elements_text(r.properties -> '${SYNONYM}') s(synonym)
    cross join lateral (select ${foldedSql("replace(s.synonym, '%', ' percent')")} as name) f
    cross join lateral (values (f.name), (replace(f.name, ' ', ''))) n(name)
    where n.name <> r.folded)`;
const NAMES = `${NAMED}
  select n.name collate "C" as text, string_agg(int4send(n.rank), '' order by n.rank) as numbers
  from named n group by n.name collate "C" order by n.name collate "C"`;
const WORDS = `${NAMED}
  select w.word as text, string_agg(int4send(n.rank), '' order by n.rank) as numbers
  from named n
  cross join lateral (
    select distinct word collate "C" as word from string_to_table(n.name, ' ') word where word <> '') w
  group by w.word order by w.word`;

/** Number of rows to read at a time. */
const ROWS = 1_000;
/** Maximum time for sorting a large system's words in the database, in ms. */
const SORTING_MS = 600_000;

/**
 * Builds a code system's index, replacing the existing one. PostgreSQL does the sorting, and rows are written while others are
 * being read. Except for the groups of letters, at most a few MB are in memory at a time.
 * @param system the system's number
 */
export async function makeCodeIndex(tx: ClientBase, system: number): Promise<void> {
  await tx.query(`set local statement_timeout = ${SORTING_MS}`);
  await tx.query('delete from terminology.code_index where system = $1', [system]);
  const part = (name: string) => writePart(tx, system, name);
  const places = part('places');
  for await (const rows of inOrder(tx, PLACES, system)) {
    for (const [, numbers] of rows) places.append(numbers);
    await places.write();
  }
  await places.write('all');
  await writeLists(part, 'codes', inOrder(tx, CODES, system));
  await writeLists(part, 'names', inOrder(tx, NAMES, system));
  const ofTrigrams = new Map<string, number[]>();
  await writeLists(part, 'words', noting(ofTrigrams, inOrder(tx, WORDS, system)));
  await writeLists(part, 'trigrams', sorted(ofTrigrams));
}

/**
 * Returns a code system's index; undefined if it hasn't been built.
 * @param system the system's number
 */
export async function readCodeIndex(tx: ClientBase, system: number): Promise<CodeIndex | undefined> {
  const part = await readParts(tx, system);
  if (part === undefined) return undefined;
  const lists = (name: string): TextListsBytes => ({
    texts: part(`${name}.texts`),
    blocks: part(`${name}.blocks`),
    starts: part(`${name}.starts`),
    numbers: part(`${name}.numbers`),
  });
  return new CodeIndex({
    codes: lists('codes'),
    names: lists('names'),
    words: lists('words'),
    trigrams: lists('trigrams'),
    places: part('places'),
  });
}

/** Yields a statement's rows in batches. */
async function* inOrder(tx: ClientBase, sql: string, system: number): AsyncGenerator<readonly TextList[]> {
  const patient = { query_timeout: SORTING_MS };
  const ask = { ...patient, text: `declare in_order no scroll cursor for ${sql}`, values: [system] };
  await tx.query(ask);
  const next = { ...patient, text: `fetch ${ROWS} from in_order` };
  for (;;) {
    const { rows } = await tx.query<{ text: string; numbers: Buffer }>(next);
    if (rows.length === 0) break;
    // PostgreSQL sends the highest byte of a number first.
    yield rows.map(({ text, numbers }) => [text, numbers.swap32()]);
  }
  await tx.query('close in_order');
}

/** Yields words unchanged; for each word, records its groups of three letters with the word's number. */
async function* noting(
  ofTrigrams: Map<string, number[]>,
  batches: AsyncIterable<readonly TextList[]>,
): AsyncGenerator<readonly TextList[]> {
  let number = 0;
  for await (const batch of batches) {
    for (const [word] of batch) {
      for (const trigram of splitTrigrams(word)) {
        const numbers = ofTrigrams.get(trigram);
        if (numbers === undefined) ofTrigrams.set(trigram, [number]);
        else numbers.push(number);
      }
      number += 1;
    }
    yield batch;
  }
}

/** Yields one group of letters per batch, and then removes that group from memory. */
function* sorted(ofTrigrams: Map<string, number[]>): Generator<readonly TextList[]> {
  const texts = [...ofTrigrams.keys()].map((text) => Buffer.from(text));
  for (const text of texts.sort(Buffer.compare).map((bytes) => bytes.toString())) {
    yield [[text, Buffer.from(Uint32Array.from(ofTrigrams.get(text) ?? []).buffer)]];
    ofTrigrams.delete(text);
  }
}
