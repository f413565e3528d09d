/** Builds the index of a code system from its concepts, and reads it from `terminology.code_index`. */
import type { ClientBase } from 'pg';
import { CodeIndex } from './code-index.ts';
import { readParts, writePart } from './pieces.ts';
import type { TextListsBytes } from './text-lists.ts';
import { trigramsOf } from './trigrams.ts';
import { type TextList, writeLists } from './write-lists.ts';

// Selects codes with their rank: see `CodeIndexBytes`. Index: concept_in_order (system, place).
const RANKED = `
  select c.code, c.place, c.folded, (row_number() over (order by length(c.folded), c.place) - 1)::int as rank
  from terminology.concept c where c.system = $1 and c.active`;
const PLACES = `select null as text, int4send(r.place) as numbers from (${RANKED}) r order by r.rank`;
const CODES = `select r.code as text, int4send(r.place) as numbers from (${RANKED}) r order by r.code collate "C"`;
const NAMES = `
  select r.folded as text, string_agg(int4send(r.rank), '' order by r.rank) as numbers
  from (${RANKED}) r where r.folded <> '' group by r.folded order by r.folded`;
const WORDS = `
  select w.word as text, string_agg(int4send(r.rank), '' order by r.rank) as numbers
  from (${RANKED}) r
  cross join lateral (
    select distinct word collate "C" as word from string_to_table(r.folded, ' ') word where word <> '') w
  group by w.word order by w.word`;

/** Number of rows read at a time. */
const ROWS = 1_000;
/** Maximum time in ms for sorting a large system's words in the database. */
const SORTING_MS = 600_000;

/**
 * Builds a code system's index and replaces the existing one. PostgreSQL sorts, and rows are written as they are read;
 * except for the groups of letters, at most a few MB are in memory.
 * @param system the system's number.
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
 * Returns a code system's index; undefined if none was built.
 * @param system the system's number.
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

/** Yields the rows of a statement in batches. */
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

/** Yields words unchanged, and records their groups of three letters with the words' numbers. */
async function* noting(
  ofTrigrams: Map<string, number[]>,
  batches: AsyncIterable<readonly TextList[]>,
): AsyncGenerator<readonly TextList[]> {
  let number = 0;
  for await (const batch of batches) {
    for (const [word] of batch) {
      for (const trigram of trigramsOf(word)) {
        const numbers = ofTrigrams.get(trigram);
        if (numbers === undefined) ofTrigrams.set(trigram, [number]);
        else numbers.push(number);
      }
      number += 1;
    }
    yield batch;
  }
}

/** Yields one group per batch, and removes each from memory. */
function* sorted(ofTrigrams: Map<string, number[]>): Generator<readonly TextList[]> {
  const texts = [...ofTrigrams.keys()].map((text) => Buffer.from(text));
  for (const text of texts.sort(Buffer.compare).map((bytes) => bytes.toString())) {
    yield [[text, Buffer.from(Uint32Array.from(ofTrigrams.get(text) ?? []).buffer)]];
    ofTrigrams.delete(text);
  }
}
