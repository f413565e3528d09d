/**
 * Conditions on the read model `search`: predicates combined into one condition on rows `r`; conditions on the keys of entries
 * (index search.entry_keys) and on the values in the tables `period`, `quantity` and `string`; and the keys for a parameter's
 * values.
 */
import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { containedType, parameterKey, searchKey, valueKey } from '#src/fhir/search/keys.ts';
import type { Binds } from '../../database/binds.ts';
import type { SearchScope } from './parameter.ts';
import type { Predicate, Values } from './predicate.ts';
import { parts } from './span.ts';

/** Returns the sets of keys that predicates imply. */
export function impliedBy(predicates: readonly Predicate[]): (readonly string[])[] {
  return predicates.flatMap(({ implied }) => (implied === undefined ? [] : [implied()]));
}

/** The maximum size of a set of keys that may be expanded to one key per record. */
const MOST_IN_RECORDS = 4_000;

/**
 * Returns sets of keys such that a matching row's entry has at least one key from each set.
 * @param records the records that contain all rows, if known: the records' own keys are used if they exist
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
 * Returns the condition that a row's entry has a key from each set. The ids form an array, so they are found before any
 * resource is looked up, whatever the planner assumes about either table.
 */
export function withKeys(sets: readonly (readonly string[])[], binds: Binds): string {
  return `r.id = any(array(select k.id from (${entriesWith(sets, binds)}) k))`;
}

/**
 * Sets larger than this are looked up one key at a time, because without statistics the planner assumes that many keys match
 * everything.
 */
const MANY = 8;

/** Returns true if `entriesWith` may return an entry more than once. */
export function isLookedUpByKey(sets: readonly (readonly string[])[]): boolean {
  return sets.some((set) => set.length > MANY);
}

/**
 * Returns a query with the columns `id` and `record` for the entries that have a key from each set (index search.entry_keys).
 * The keys of a large set are looked up one after the other, until enough rows are found.
 */
export function entriesWith(sets: readonly (readonly string[])[], binds: Binds): string {
  const [largest = []] = [...sets].sort((a, b) => b.length - a.length);
  if (largest.length <= MANY) {
    return `select e.id, e.record from search.entry e where ${hasKeys('e', sets, binds)}`;
  }
  const others = sets.filter((set) => set !== largest);
  return entriesWithEach(`select * from unnest(${binds.add(largest, 'int8[]')}) k(key)`, others, binds);
}

/**
 * Returns a query, with the columns `id` and `record`, for the entries that have one of the keys that a query finds, and a
 * key from each set; an entry with several of the keys is returned several times. The keys are looked up one after the other:
 * for one condition on all of them, the index would compare each entry that it finds with every key.
 * @param keys a query with the column `key`
 */
export function entriesWithEach(keys: string, sets: readonly (readonly string[])[], binds: Binds): string {
  const every = sets.filter((set) => set.length === 1).flat();
  const conditions = [
    `e.keys @> (k.key || ${binds.add(every, 'int8[]')})`,
    ...sets.filter((set) => set.length !== 1).map((set) => `e.keys && ${binds.add(set, 'int8[]')}`),
  ];
  return `select f.id, f.record from (${keys}) k cross join lateral (
    select e.id, e.record from search.entry e where ${conditions.join(' and ')} offset 0) f`;
}

/** Returns the condition that an entry has a key from each set. */
export function hasKeys(entry: string, sets: readonly (readonly string[])[], binds: Binds): string {
  const every = sets.flatMap((set) => (set.length === 1 ? set : []));
  const conditions = sets
    .filter((set) => set.length !== 1)
    .map((set) => `${entry}.keys && ${binds.add(set, 'int8[]')}`);
  if (every.length > 0) conditions.unshift(`${entry}.keys @> ${binds.add(every, 'int8[]')}`);
  return conditions.join(' and ');
}

/**
 * Returns the predicate that rows have one of the given keys.
 * @param more further properties of the predicate
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

/** Returns the predicate that rows have none of the given keys; rows without any value match too. */
export function noKeysPredicate(keys: readonly string[]): Predicate {
  const condition = (binds: Binds) =>
    `not exists (select from search.entry e where e.id = r.id and e.keys && ${binds.add(keys, 'int8[]')})`;
  return Object.assign(condition, { without: keys, ofEntry: true });
}

/**
 * Returns the condition that rows belong to a tenant. For keyed predicates, the condition must not use an index: without
 * statistics, the planner might walk through the tenant's whole index.
 */
export function ofTenant(tenant: string, keyed: boolean, binds: Binds): string {
  const condition = `r.tenant = ${binds.add(tenant, 'uuid')}`;
  return keyed ? `(${condition}) is true` : condition;
}

/**
 * Combines predicates. Keys become a single condition on their index. If something else leads to the rows, values are looked
 * up only for each row, because without statistics the planner might read all of a parameter's values.
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

/** Returns a predicate's condition for checking a row that was found by other means. */
export function writeCheck(predicate: Predicate, binds: Binds): string {
  const { values } = predicate;
  if (values === undefined) return predicate(binds);
  const { table, as, keys, by = 'key', condition } = values;
  return `(select true from ${rowsOfId(table, as, 'r.id')}
    where ${equalsOneOf(`${as}.${by}`, keys, binds)} and (${condition(binds)}) limit 1)`;
}

/** Returns the predicate that rows have one of the given values. */
export function valuesPredicate(values: Values): Predicate {
  const condition = (binds: Binds) => `r.id in (${idsWith(values, binds)})`;
  return Object.assign(condition, { values, ofEntry: true });
}

/** Returns a query with the column `id`, possibly with duplicates, for the resources that have one of the values. */
export function idsWith({ table, as, keys, by = 'key', condition, span }: Values, binds: Binds): string {
  return parts(span, condition, binds)
    .map(
      (part) =>
        `select ${as}.id from search.${table} ${as} where ${equalsOneOf(`${as}.${by}`, keys, binds)} and ${part}`,
    )
    .join(' union all ');
}

/** Returns the condition that a column equals one of the given hashes. */
export function equalsOneOf(column: string, keys: readonly string[], binds: Binds): string {
  const [only, ...others] = keys;
  return only !== undefined && others.length === 0
    ? `${column} = ${binds.add(only, 'int8')}`
    : `${column} = any(${binds.add(keys, 'int8[]')})`;
}

/**
 * Returns SQL, in the form used after `from`, for a resource's rows in a table of the read model `search` (indexes
 * search.period_of and similar). `offset` keeps the planner from using a different index for the rest of the condition.
 */
export function rowsOfId(table: string, as: string, id: string): string {
  return `(select ${as}.*, ${as}.ctid as at from search.${table} ${as} where ${as}.id = ${id} offset 0) ${as}`;
}

type Of = Pick<SearchScope, 'tenant' | 'type' | 'contained'>;
type Stored = Pick<CompiledParameter, 'stored'>;

/** Returns the names under which a scope's type occurs in keys. */
export function typesIn({ type, contained }: Pick<SearchScope, 'type' | 'contained'>): readonly string[] {
  return contained === true ? [type, containedType(type)] : [type];
}

/**
 * Returns the keys for a parameter's strings, times and quantities.
 * @param suffix a suffix of the code, such as `LABEL`
 */
export function parameterKeys({ stored }: Stored, scope: Of, suffix = ''): string[] {
  return typesIn(scope).flatMap((type) =>
    stored.map((code) => searchKey(parameterKey(scope.tenant, type, code + suffix))),
  );
}

/** Returns the keys for forms (`src/fhir/search/keys.ts`). Entries with these values have these keys. */
export function formKeys({ stored }: Stored, forms: readonly string[], scope: Of, suffix = ''): string[] {
  return typesIn(scope).flatMap((type) =>
    stored.flatMap((code) =>
      forms.map((form) => searchKey(valueKey(scope.tenant, type, code + suffix, form))),
    ),
  );
}
