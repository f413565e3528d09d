/** Predicates as one condition on rows `r`, and conditions on the keys of entries in the read model `search`: index search.entry_keys. */
import type { Binds } from '../../database/binds.ts';
import type { Predicate } from './predicate.ts';
import { equalsOneOf, rowsOfId } from './stored-values.ts';

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

/**
 * Returns the condition that rows belong to a tenant. For keyed predicates no index may use it: without
 * statistics the planner might walk the tenant's whole index.
 */
export function ofTenant(tenant: string, keyed: boolean, binds: Binds): string {
  const condition = `r.tenant = ${binds.add(tenant, 'uuid')}`;
  return keyed ? `(${condition}) is true` : condition;
}

/**
 * Combines predicates. Keys become one condition on their index. If something else leads to the rows, values are only
 * looked up for each: without statistics the planner might read all values of a parameter.
 */
export function combinePredicates(predicates: readonly Predicate[], binds: Binds): string {
  const sets = keySets(predicates);
  const implied = sets.length === 0 ? [] : impliedBy(predicates);
  const keyed = predicates.some((predicate) => predicate.keyed === true);
  const conditions = predicates
    .filter((predicate) => predicate.keys === undefined)
    .map((predicate) => `(${keyed ? writeCheck(predicate, binds) : predicate(binds)})`);
  if (sets.length > 0) conditions.push(withKeys([...sets, ...implied], binds));
  return conditions.join(' and ') || 'true';
}

/** Combines predicates as checks on rows `r` that are found by other means. */
export function combineChecks(predicates: readonly Predicate[], binds: Binds): string {
  const sets = keySets(predicates);
  const checks = predicates
    .filter((predicate) => predicate.keys === undefined)
    .map((predicate) => `(${writeCheck(predicate, binds)})`);
  if (sets.length > 0) {
    checks.push(
      `(select true from search.entry e where e.id = r.id and ${hasKeys('e', sets, binds)} limit 1)`,
    );
  }
  return checks.join(' and ') || 'true';
}

/** Returns a predicate's condition on such a row. */
export function writeCheck(predicate: Predicate, binds: Binds): string {
  const { values } = predicate;
  if (values === undefined) return predicate(binds);
  const { table, as, keys, by = 'key', condition } = values;
  return `(select true from ${rowsOfId(table, as, 'r.id')}
    where ${equalsOneOf(`${as}.${by}`, keys, binds)} and (${condition(binds)}) limit 1)`;
}
