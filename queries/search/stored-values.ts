/** Conditions on rows of the tables `period`, `quantity` and `string` of the read model `search`. */
import type { Binds } from '../binds.ts';
import type { Predicate, Values } from './predicate.ts';
import { parts } from './span.ts';

/** The predicate that rows have one of some values. */
export function valuesPredicate(values: Values): Predicate {
  const condition = (binds: Binds) => `r.id in (${idsWith(values, binds)})`;
  return Object.assign(condition, { values, ofEntry: true });
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

/**
 * The rows that a table of the read model `search` has of one resource, as in `from` (indexes search.period_of and their
 * like). With `offset` nothing else of the condition can lead the planner to another index.
 */
export function rowsOfId(table: string, as: string, id: string): string {
  return `(select ${as}.*, ${as}.ctid as at from search.${table} ${as} where ${as}.id = ${id} offset 0) ${as}`;
}
