/**
 * Writes into a summary's narratives what its entries don't contain: entries that aren't listed because they have ended or
 * were refuted, and what was changed. Also reads this text for the page of shared links. Pure.
 */
import { type RefutedWords, readEnglish, readRefutedText, readState } from '../reading/english.ts';
import type { Phrase, StateName } from '../reading/phrases.ts';

/** The last words of a section's narrative if all its entries have ended. */
export const ONLY_PAST = 'only past ones.';

/** Sections that don't list their past entries, with the singular and plural names of the entries. */
const PAST = {
  allergies: ['past allergy', 'past allergies'],
  medications: ['past medicine', 'past medicines'],
  planOfCare: ['past care plan', 'past care plans'],
  socialHistory: [
    'earlier statement about tobacco or alcohol',
    'earlier statements about tobacco or alcohol',
  ],
} as const;

type PastSection = keyof typeof PAST;

function hasPast(section: string): section is PastSection {
  return Object.hasOwn(PAST, section);
}

/**
 * Returns the number of a section's past entries that aren't listed, in words: `3 past medicines`; undefined if there are
 * none.
 */
export function pastText(section: string, count: number): string | undefined {
  if (count === 0 || !hasPast(section)) return undefined;
  const [one, several] = PAST[section];
  return `${count} ${count === 1 ? one : several}`;
}

/** Returns the sentence about past entries that aren't listed. */
export function notListedText(section: string, count: number): string | undefined {
  const past = pastText(section, count);
  return past && `${past} ${count === 1 ? 'is' : 'are'} not listed here.`;
}

const NOT_LISTED = /<p>(\d{1,6}) [a-z ]+ (?:is|are) not listed here\.<\/p>/;

/** Returns the number of past entries that a section's narrative doesn't list. */
export function countNotListed(div: string): number {
  return Number(NOT_LISTED.exec(div)?.[1] ?? 0);
}

/** The prefix for the name of a medicine that must not be given. */
export const FORBIDDEN = 'Must not be given: ';

/**
 * Returns the id of a medicine's row, for records in which some medicines aren't entries.
 * @param keys the row's entries, as `Type/id`
 */
export function rowId(keys: readonly string[]): string {
  return keys.map((key) => key.replace('/', '-')).join('.');
}

/** A medicine's row in a narrative. */
export interface ToldRow {
  /** The entries that the row is about, as `Type/id`. */
  readonly keys: readonly string[];
  /** The medicine's name if the medicine must not be given; otherwise undefined. */
  readonly forbidden: string | undefined;
  readonly name: string;
  /** The medicine's state, which may come from an entry that isn't in the summary; undefined if it can't be read. */
  readonly state: { readonly said: StateName; readonly status: string } | undefined;
  readonly phrases: readonly Phrase[];
}

/** Returns a narrative's rows about medicines that have a row id or must not be given. */
export function readToldRows(div: string): ToldRow[] {
  const headings = cellsIn(div, 'th');
  return [...div.matchAll(/<tr(?: id="([^"]+)")?><td>(.*?)<\/tr>/gs)].flatMap(
    ([, id, row = '']): ToldRow[] => {
      const cells = cellsIn(`<td>${row}`, 'td');
      const [name = ''] = cells;
      const forbidden = name.startsWith(FORBIDDEN) ? name.slice(FORBIDDEN.length) : undefined;
      if (id === undefined && forbidden === undefined) return [];
      const status = cells[headings.indexOf('Status')] ?? '';
      const keys = id === undefined ? [] : readRowKeys(id);
      const said = { state: readState(status), phrases: readEnglish(status) };
      return [{ keys, forbidden, name: forbidden ?? name, ...said }];
    },
  );
}

/** The beginning of the sentence about a refuted entry. */
export const REFUTED = 'Refuted, not an entry: ';

const REFUTED_ENTRY = new RegExp(`<p>${REFUTED}([^<]*)\\.</p>`, 'g');

/** Returns the refuted entries, read from a section's narrative. */
export function readRefuted(div: string): RefutedWords[] {
  return [...div.matchAll(REFUTED_ENTRY)].flatMap(([, said = '']) => readRefutedText(unescaped(said)) ?? []);
}

/** Returns the changes in a narrative's rows, as separate texts, by the entries that the rows are about. */
export function readChanges(div: string): Map<string, readonly string[]> {
  const at = cellsIn(div, 'th').indexOf('Changed');
  const found = new Map<string, readonly string[]>();
  if (at < 0) return found;
  for (const [, id = '', row = ''] of div.matchAll(/<tr id="([^"]+)">(.*?)<\/tr>/gs)) {
    const [changes = ''] = cellsIn(row, 'td').slice(at);
    if (changes !== '') for (const key of readRowKeys(id)) found.set(key, changes.split('; '));
  }
  return found;
}

const readRowKeys = (id: string): string[] => id.split('.').map((part) => part.replace('-', '/'));

const ESCAPED: Readonly<Record<string, string>> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"' };

function cellsIn(markup: string, tag: string): string[] {
  return [...markup.matchAll(new RegExp(`<${tag}>(.*?)</${tag}>`, 'gs'))].map(([, cell = '']) =>
    unescaped(cell),
  );
}

/** Returns a narrative's text without its escapes. */
export function unescaped(text: string): string {
  return text.replace(/&(?:amp|lt|gt|quot);/g, (each) => ESCAPED[each] ?? each);
}
