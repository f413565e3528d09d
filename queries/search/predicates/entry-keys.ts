/** Conditions on the keys of entries in the read model `search`: index search.entry_keys. */
import type { Binds } from '../../database/binds.ts';
import type { Predicate } from './predicate.ts';

/** Returns the sets of keys that predicates imply. */
export function impliedBy(predicates: readonly Predicate[]): (readonly string[])[] {
  return predicates.flatMap(({ implied }) => (implied === undefined ? [] : [implied()]));
}

/** The maximum size of a set of keys that is expanded to one key per record. */
const MOST_IN_RECORDS = 4_000;

/**
 * Returns sets of keys; a matching row's entry has at least one key of each set.
 * @param records the records that all rows are in, if known: their own keys are used where they exist.
 */
export function keySets(
  predicates: readonly Predicate[],
  records?: readonly string[],
): (readonly string[])[] {
  return predicates.flatMap(({ keys, keysInRecord }) => {
    if (keys === undefined) return [];
    if (records === undefined || keysInRecord === undefined) return [keys];
    return keys.length * records.length > MOST_IN_RECORDS ? [keys] : [records.flatMap(keysInRecord)];
  });
}

/**
 * Returns the condition that a row's entry has one key of each set. The ids are an array, so they are found
 * before any resource is looked up, whatever the planner expects of either table.
 */
export function withKeys(sets: readonly (readonly string[])[], binds: Binds): string {
  return `r.id = any(array(select k.id from (${entriesWith(sets, binds)}) k))`;
}

/** Sets with more keys are looked up one by one: without statistics the planner takes many for all that there are. */
const MANY = 8;

/** Returns true if `entriesWith` may return an entry several times. */
export function isLookedUpByKey(sets: readonly (readonly string[])[]): boolean {
  return sets.some((set) => set.length > MANY);
}

/**
 * Returns a query, with the columns `id` and `record`, for the entries that have one key of each set (index
 * search.entry_keys). Keys of a large set are looked up one after the other, until enough rows are found.
 */
export function entriesWith(sets: readonly (readonly string[])[], binds: Binds): string {
  const [largest = []] = [...sets].sort((a, b) => b.length - a.length);
  if (largest.length <= MANY) {
    return `select e.id, e.record from search.entry e where ${hasKeys('e', sets, binds)}`;
  }
  const others = sets.filter((set) => set !== largest);
  const every = others.filter((set) => set.length === 1).flat();
  const conditions = [
    `e.keys @> (k.key || ${binds.add(every, 'int8[]')})`,
    ...others.filter((set) => set.length !== 1).map((set) => `e.keys && ${binds.add(set, 'int8[]')}`),
  ];
  return `select f.id, f.record from unnest(${binds.add(largest, 'int8[]')}) k(key) cross join lateral (
    select e.id, e.record from search.entry e where ${conditions.join(' and ')} offset 0) f`;
}

/** Returns the condition that an entry has one key of each set. */
export function hasKeys(entry: string, sets: readonly (readonly string[])[], binds: Binds): string {
  const every = sets.flatMap((set) => (set.length === 1 ? set : []));
  const conditions = sets
    .filter((set) => set.length !== 1)
    .map((set) => `${entry}.keys && ${binds.add(set, 'int8[]')}`);
  if (every.length > 0) conditions.unshift(`${entry}.keys @> ${binds.add(every, 'int8[]')}`);
  return conditions.join(' and ');
}

/**
 * Returns the predicate that rows have one of some keys.
 * @param more further facts about the predicate
 */
export function keysPredicate(
  keys: readonly string[],
  more: Pick<Predicate, 'keysInRecord'> = {},
): Predicate {
  return Object.assign((binds: Binds) => withKeys([keys], binds), {
    keyed: true,
    keys,
    ofEntry: true,
    ...more,
  });
}

/** Returns the predicate that rows have none of some keys; rows without any value match too. */
export function noKeysPredicate(keys: readonly string[]): Predicate {
  const condition = (binds: Binds) =>
    `not exists (select from search.entry e where e.id = r.id and e.keys && ${binds.add(keys, 'int8[]')})`;
  return Object.assign(condition, { without: keys, ofEntry: true });
}
