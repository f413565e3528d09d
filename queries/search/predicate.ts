/** What a search parameter comes down to: a condition in SQL over a row. */

import type { Micros } from '#src/shared/time.ts';
import type { Binds } from '../binds.ts';
import { bounds, parsePrefixedDate } from './dates.ts';
import { keyOf, type RawParameter, refuseModifier } from './raw.ts';

/** Gives the condition's SQL, its values bound. The row is `r` unless the predicate says otherwise. */
export interface Predicate {
  (binds: Binds): string;
  /** Whether it names the rows by their ids or their records, so that an index leads straight to them. */
  readonly keyed?: boolean;
  /** It holds for rows whose entry in the read model `search` has one of these keys, and for no others. */
  readonly keys?: readonly string[];
  /** A key that entries of all its rows have, when it has a condition of its own that is as good by itself. */
  readonly implied?: string;
}

/**
 * The condition that rows are of a tenant. Of rows that a predicate is keyed to it is only checked: without statistics
 * the planner might take the tenant's index for as good as the one that leads to them, and walk all that the tenant has.
 */
export function ofTenant(tenant: string, keyed: boolean, binds: Binds): string {
  const condition = `r.tenant = ${binds.add(tenant, 'uuid')}`;
  return keyed ? `(${condition}) is true` : condition;
}

/** All of them. Those that come down to keys are one question to their index. */
export function allOf(predicates: readonly Predicate[], binds: Binds): string {
  const keys = predicates.flatMap((predicate) => (predicate.keys === undefined ? [] : [predicate.keys]));
  const conditions = predicates
    .filter((predicate) => predicate.keys === undefined)
    .map((predicate) => `(${predicate(binds)})`);
  if (keys.length > 0) {
    const implied = predicates.flatMap(({ implied: key }) => (key === undefined ? [] : [[key]]));
    conditions.push(withKeys([...keys, ...implied], binds));
  }
  return conditions.join(' and ') || 'true';
}

/**
 * The condition that a row's entry has one key of each set (index search.entry_keys). As an array the ids are known
 * before any resource is looked up, whatever the planner expects of either table.
 */
function withKeys(sets: readonly (readonly string[])[], binds: Binds): string {
  const every = sets.flatMap((set) => (set.length === 1 ? set : []));
  const conditions = sets
    .filter((set) => set.length !== 1)
    .map((set) => `e.keys && ${binds.add(set, 'int8[]')}`);
  if (every.length > 0) conditions.unshift(`e.keys @> ${binds.add(every, 'int8[]')}`);
  return `r.id = any(array(select e.id from search.entry e where ${conditions.join(' and ')}))`;
}

/** The predicate that rows have one of some keys. */
export function keysPredicate(keys: readonly string[]): Predicate {
  return Object.assign((binds: Binds) => withKeys([keys], binds), { keyed: true, keys });
}

/** The predicate that rows have none of some keys: also rows without any value. */
export function noKeysPredicate(keys: readonly string[]): Predicate {
  return (binds) =>
    `not exists (select from search.entry e where e.id = r.id and e.keys && ${binds.add(keys, 'int8[]')})`;
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
