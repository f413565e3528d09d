/**
 * Tallies: totals that the read model `search` maintains for searches that often request them
 * (docs/decisions/0036-tallies-on-request.md). A statement looks up the total instead of counting entries by their keys, in
 * the same snapshot as its page. A process that has just counted many matches asks for a tally of them.
 */
import { LRUCache } from 'lru-cache';
import { MOST_KEYS, TALLIES, writeAsk } from '#src/fhir/search/tallies.ts';
import type { Binds } from '../database/binds.ts';
import type { Asks } from '../database/prepared.ts';
import type { Selection, Source } from './selection.ts';

/** From this number of matches, counting takes longer than reading the page. */
const BROAD = 10_000;
/**
 * How often a process asks for the same tally, in ms, and how many tallies it remembers. Asking again keeps a tally from
 * expiring.
 */
const ASKED_MS = 60_000;
const REMEMBERED = 1_000;

/** Asks for tallies. */
export interface Tallies {
  /** From this number of matches, a tally is worthwhile. */
  readonly broad: number;
  /** Asks for the tally of a broad selection, if the selection can have a tally. Doesn't wait for a response. */
  ask(selection: Selection): void;
}

/**
 * Creates the tallies.
 * @param broad the number of matches from which a selection is broad
 * @param askedMs how often the same tally is requested; tests set this
 */
export function openTallies(pool: Asks, broad = BROAD, askedMs = ASKED_MS): Tallies {
  const asked = new LRUCache<string, true>({ max: REMEMBERED, ttl: askedMs });
  return {
    broad,
    ask(selection) {
      const keys = tallyKeys(selection);
      if (keys === undefined) return;
      const text = writeAsk(selection.tenant, selection.type, keys);
      if (asked.has(text)) return;
      asked.set(text, true);
      const values = [TALLIES, text];
      void pool.query({ name: 'tally', text: 'select pg_notify($1, $2)', values }).catch(() => undefined);
    },
  };
}

/**
 * Returns a selection's keys, in tally order, if its matches are exactly the entries that have all these keys; otherwise
 * undefined. A predicate with `keys` imposes no other condition on rows.
 */
export function tallyKeys({ tallied, record, predicates }: Selection): readonly string[] | undefined {
  if (tallied !== true || record !== undefined || predicates.length === 0) return undefined;
  const keys = new Set<string>();
  for (const { keys: own = [], ofEntry, implied, inRecords, without } of predicates) {
    const [key, ...more] = own;
    const isMore = implied !== undefined || inRecords !== undefined || without !== undefined;
    if (key === undefined || more.length > 0 || ofEntry !== true || isMore) return undefined;
    keys.add(key);
  }
  return keys.size > MOST_KEYS ? undefined : [...keys].sort();
}

/**
 * Returns SQL for a total: the tally if it exists, otherwise the count.
 * @param count SQL that counts the matches
 */
export function tallyOr(
  count: string,
  selection: Selection,
  source: Source | undefined,
  binds: Binds,
): string {
  const keys = source?.kind === 'keys' ? tallyKeys(selection) : undefined;
  if (keys === undefined) return count;
  // The second operand isn't evaluated if the first one has a value.
  return `select coalesce((
    select t.counted + t.changed from search.tally t where t.keys = ${binds.add(keys, 'int8[]')}), (${count})) as count`;
}
