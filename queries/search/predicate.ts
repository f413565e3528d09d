/** What a search parameter comes down to: a condition in SQL over a row. */

import type { Micros } from '#src/shared/time.ts';
import type { Binds } from '../binds.ts';
import { bounds, parsePrefixedDate } from './dates.ts';
import { keyOf, type RawParameter, refuseModifier } from './raw.ts';
import type { Resolvable } from './resolve.ts';
import { both, parts, type Span } from './span.ts';

/** Gives the condition's SQL, its values bound. The row is `r` unless the predicate says otherwise. */
export interface Predicate {
  (binds: Binds): string;
  /** Whether it names the rows by their ids or their records, so that an index leads straight to them. */
  readonly keyed?: boolean;
  /** It holds for rows whose entry in the read model `search` has one of these keys, and for no others. */
  readonly keys?: readonly string[];
  /** The same keys for the rows of one record alone: of a record's rows those have one that have one of `keys`. */
  readonly keysInRecord?: (record: string) => readonly string[];
  /** It holds for rows whose entry has none of these keys, and for no others. */
  readonly without?: readonly string[];
  /** Keys of which entries of all its rows have one, when it has a condition of its own that is as good by itself. */
  readonly implied?: () => readonly string[];
  /** The records that it holds for rows of, and for no others of the search's type. */
  readonly inRecords?: readonly string[];
  /** The same predicate for some of these records. */
  readonly narrowed?: (records: readonly string[]) => Predicate;
  /** It holds for rows with one of these values in the read model `search`, and for no others. */
  readonly values?: Values;
  /**
   * The rows that it holds for, live ones of the type and the tenant, some perhaps twice: a query with `id` and `record`.
   * Those whose entry has not one key of each of some sets may be left out: these are asked of the index together.
   */
  readonly rows?: (binds: Binds, sets?: readonly (readonly string[])[]) => string;
  /** The condition on the time of recording that it is: an index of the tenant's resources in that order leads to its rows. */
  readonly recorded?: true;
  /** Whether it finds so many rows, as a rule, that a walk along the answer's order soon meets enough of them. */
  readonly wide?: true;
  /** What it leads to, where it is asked for by references and can as well name what they refer to. */
  readonly resolvable?: Resolvable;
  /** Whether it reads no more of a row than `r.id` and `r.record`, which the row's entry in `search` has as well. */
  readonly ofEntry?: boolean;
}

/** Rows of a table of the read model `search` that have an `id` and a parameter's `key`. */
export interface Values {
  readonly table: string;
  /** The table's name in the condition. */
  readonly as: string;
  /** Of the parameter, or of those that hold its values. */
  readonly keys: readonly string[];
  /** The column of the keys, when it is not `key`: `about`, what values are of (composites). */
  readonly by?: 'key' | 'about';
  /** Whether a resource has one of them at most, once for each of its codes. */
  readonly single?: boolean;
  /** What else they must be; with what an index over (key, low) or (key, folded) can use, if anything. */
  condition(binds: Binds): string;
  /** What the condition implies for ranges. */
  readonly span?: Span;
}

/**
 * The condition that rows are of a tenant. Of rows that a predicate is keyed to it is only checked: without statistics
 * the planner might take the tenant's index for as good as the one that leads to them, and walk all that the tenant has.
 */
export function ofTenant(tenant: string, keyed: boolean, binds: Binds): string {
  const condition = `r.tenant = ${binds.add(tenant, 'uuid')}`;
  return keyed ? `(${condition}) is true` : condition;
}

/**
 * All of them. Those that come down to keys are one question to their index. Where something else leads to the rows,
 * values are only looked up for each: without statistics the planner would as soon read all that a parameter has.
 */
export function allOf(predicates: readonly Predicate[], binds: Binds): string {
  const sets = keySets(predicates);
  const implied = sets.length === 0 ? [] : impliedBy(predicates);
  const keyed = predicates.some((predicate) => predicate.keyed === true);
  const conditions = predicates
    .filter((predicate) => predicate.keys === undefined)
    .map((predicate) => `(${keyed ? checkOf(predicate, binds) : predicate(binds)})`);
  if (sets.length > 0) conditions.push(withKeys([...sets, ...implied], binds));
  return conditions.join(' and ') || 'true';
}

/** The sets of keys that predicates imply. */
export function impliedBy(predicates: readonly Predicate[]): (readonly string[])[] {
  return predicates.flatMap(({ implied }) => (implied === undefined ? [] : [implied()]));
}

/** All of them, as checks on rows `r` that something else has led to. */
export function checksOf(predicates: readonly Predicate[], binds: Binds): string {
  const sets = keySets(predicates);
  const checks = predicates
    .filter((predicate) => predicate.keys === undefined)
    .map((predicate) => `(${checkOf(predicate, binds)})`);
  if (sets.length > 0) {
    checks.push(
      `(select true from search.entry e where e.id = r.id and ${hasKeys('e', sets, binds)} limit 1)`,
    );
  }
  return checks.join(' and ') || 'true';
}

/** Most keys of a set that records of their own make. */
const MOST_IN_RECORDS = 4_000;

/**
 * The sets of keys of which a row's entry must have one each.
 * @param records that all rows are in, if that is known: their own keys are asked for where there are.
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
 * The condition that a row's entry has one key of each set. As an array the ids are known before any resource is looked up,
 * whatever the planner expects of either table.
 */
function withKeys(sets: readonly (readonly string[])[], binds: Binds): string {
  return `r.id = any(array(select k.id from (${entriesWith(sets, binds)}) k))`;
}

/** Sets with more keys are looked up one by one: without statistics the planner takes many for all that there are. */
const MANY = 8;

/** Whether `entriesWith` may give an entry several times. */
export function isLookedUpByKey(sets: readonly (readonly string[])[]): boolean {
  return sets.some((set) => set.length > MANY);
}

/**
 * The entries that have one key of each set (index search.entry_keys): a query with the columns `id` and `record`. Keys of
 * a large set are looked up one after the other, as far as rows are wanted.
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
    ...others.filter((set) => set.length > 1).map((set) => `e.keys && ${binds.add(set, 'int8[]')}`),
  ];
  return `select f.id, f.record from unnest(${binds.add(largest, 'int8[]')}) k(key) cross join lateral (
    select e.id, e.record from search.entry e where ${conditions.join(' and ')} offset 0) f`;
}

/** The condition that an entry has one key of each set. */
export function hasKeys(entry: string, sets: readonly (readonly string[])[], binds: Binds): string {
  const every = sets.flatMap((set) => (set.length === 1 ? set : []));
  const conditions = sets
    .filter((set) => set.length !== 1)
    .map((set) => `${entry}.keys && ${binds.add(set, 'int8[]')}`);
  if (every.length > 0) conditions.unshift(`${entry}.keys @> ${binds.add(every, 'int8[]')}`);
  return conditions.join(' and ');
}

/** The predicate that rows have one of some keys. @param more what else is known of it */
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

/** The predicate that rows have none of some keys: also rows without any value. */
export function noKeysPredicate(keys: readonly string[]): Predicate {
  const condition = (binds: Binds) =>
    `not exists (select from search.entry e where e.id = r.id and e.keys && ${binds.add(keys, 'int8[]')})`;
  return Object.assign(condition, { without: keys, ofEntry: true });
}

/** The predicate that rows have one of some values. */
export function valuesPredicate(values: Values): Predicate {
  const condition = (binds: Binds) => `r.id in (${idsWith(values, binds)})`;
  return Object.assign(condition, { values, ofEntry: true });
}

/**
 * Conditions on the same values of a resource are one: the bounds of a window lead to the rows between them, not to all
 * that one of them leaves. So are conditions that there are no keys: an entry is looked at once for all of them.
 */
export function merged(predicates: readonly Predicate[]): readonly Predicate[] {
  const without = predicates.flatMap((predicate) => predicate.without ?? []);
  const found: Predicate[] = without.length === 0 ? [] : [noKeysPredicate(without)];
  for (const predicate of predicates) {
    if (predicate.without !== undefined) continue;
    const at = found.findIndex((each) => areSame(each.values, predicate.values));
    const [before, { values }] = [found[at]?.values, predicate];
    if (before === undefined || values === undefined) found.push(predicate);
    else found[at] = valuesPredicate(conjunction(before, values));
  }
  return found;
}

function areSame(one: Values | undefined, other: Values | undefined): boolean {
  return (
    one?.single === true &&
    other?.single === true &&
    one.table === other.table &&
    one.keys.join() === other.keys.join()
  );
}

function conjunction(one: Values, other: Values): Values {
  const span = both(one.span, other.span);
  return {
    ...one,
    condition: (binds) => `(${one.condition(binds)}) and (${other.condition(binds)})`,
    ...(span === undefined ? {} : { span }),
  };
}

/** The ids of the resources that have one of the values, some perhaps twice: a query with the column `id`. */
export function idsWith({ table, as, keys, by = 'key', condition, span }: Values, binds: Binds): string {
  return parts(span, condition, binds)
    .map(
      (part) =>
        `select ${as}.id from search.${table} ${as} where ${oneOf(`${as}.${by}`, keys, binds)} and ${part}`,
    )
    .join(' union all ');
}

/** The condition that a column is one of some hashes. */
export function oneOf(column: string, keys: readonly string[], binds: Binds): string {
  const [only, ...others] = keys;
  return only !== undefined && others.length === 0
    ? `${column} = ${binds.add(only, 'int8')}`
    : `${column} = any(${binds.add(keys, 'int8[]')})`;
}

/** The predicate's condition on a row that something else has led to. */
export function checkOf(predicate: Predicate, binds: Binds): string {
  const { values } = predicate;
  if (values === undefined) return predicate(binds);
  const { table, as, keys, by = 'key', condition } = values;
  return `(select true from ${rowsOfId(table, as, 'r.id')}
    where ${oneOf(`${as}.${by}`, keys, binds)} and (${condition(binds)}) limit 1)`;
}

/**
 * The rows that a table of the read model `search` has of one resource, as in `from` (indexes search.period_of and their
 * like). With `offset` nothing else of the condition can lead the planner to another index.
 */
export function rowsOfId(table: string, as: string, id: string): string {
  return `(select ${as}.*, ${as}.ctid as at from search.${table} ${as} where ${as}.id = ${id} offset 0) ${as}`;
}

/**
 * Compares a column that holds microseconds with prefixed dates, any of which may hold.
 * @throws Refusal `malformed` for a modifier or a bad date.
 */
export function momentPredicate(parameter: RawParameter, column: string, now: Micros): Predicate {
  refuseModifier(parameter);
  const alternatives = parameter.values.map((value) => {
    const { prefix, period } = parsePrefixedDate(keyOf(parameter), value);
    return bounds(prefix, period, now);
  });
  return (binds) =>
    alternatives
      .map(({ from, to, outside }) => {
        if (outside !== undefined) {
          return `${column} < ${binds.add(outside.from, 'int8')} or ${column} >= ${binds.add(outside.to, 'int8')}`;
        }
        const parts = [];
        if (from !== undefined) parts.push(`${column} >= ${binds.add(from, 'int8')}`);
        if (to !== undefined) parts.push(`${column} < ${binds.add(to, 'int8')}`);
        return parts.join(' and ');
      })
      .map((sql) => `(${sql})`)
      .join(' or ');
}
