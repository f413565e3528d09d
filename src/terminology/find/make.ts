/** Builds the index of a code system from its concepts, and reads it from `terminology.code_index`. */
import type { ClientBase } from 'pg';
import { CodeIndex } from './code-index.ts';
import { readParts, writePart } from './pieces.ts';
import { asBytes, BLOCK, type TextListsBytes } from './text-lists.ts';
import { trigramsOf } from './trigrams.ts';

/** A text with its numbers in ascending order, as bytes in memory order. */
type TextList = readonly [text: string, numbers: Buffer];

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
  const places = writePart(tx, system, 'places');
  for await (const rows of inOrder(tx, PLACES, system)) {
    for (const [, numbers] of rows) places.append(numbers);
    await places.write();
  }
  await places.write('all');
  await writeLists(tx, system, 'codes', inOrder(tx, CODES, system));
  await writeLists(tx, system, 'names', inOrder(tx, NAMES, system));
  const ofTrigrams = new Map<string, number[]>();
  await writeLists(tx, system, 'words', noting(ofTrigrams, inOrder(tx, WORDS, system)));
  await writeLists(tx, system, 'trigrams', sorted(ofTrigrams));
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

async function writeLists(
  tx: ClientBase,
  system: number,
  name: string,
  batches: AsyncIterable<readonly TextList[]> | Iterable<readonly TextList[]>,
): Promise<void> {
  const part = (of: keyof TextListsBytes) => writePart(tx, system, `${name}.${of}`);
  const [texts, blocks, starts, numbers] = [part('texts'), part('blocks'), part('starts'), part('numbers')];
  const parts = [texts, blocks, starts, numbers];
  let [place, length, start] = [0, 0, 0];
  let before: Buffer = Buffer.alloc(0);
  for await (const batch of batches) {
    const begins: number[] = [];
    const lists: number[] = [];
    for (const [text, list] of batch) {
      const bytes = Buffer.from(text);
      const shared = place % BLOCK === 0 ? 0 : sharedBy(before, bytes);
      if (place % BLOCK === 0) begins.push(length);
      lists.push(start);
      const line = Buffer.concat([
        Buffer.from([...asBytes(shared), ...asBytes(bytes.length - shared)]),
        bytes.subarray(shared),
      ]);
      texts.append(line);
      numbers.append(list);
      place += 1;
      length += line.length;
      start += list.length / 4;
      before = bytes;
    }
    blocks.append(Uint32Array.from(begins));
    starts.append(Uint32Array.from(lists));
    for (const each of parts) await each.write();
  }
  starts.append(Uint32Array.of(start));
  for (const each of parts) await each.write('all');
}

/** Returns the number of bytes in the common beginning of two texts. */
function sharedBy(one: Buffer, other: Buffer): number {
  let at = 0;
  while (at < one.length && at < other.length && one[at] === other[at]) at += 1;
  return at;
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
