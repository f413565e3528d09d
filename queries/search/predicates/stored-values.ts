/**
 * Conditions on rows of the tables `period`, `quantity` and `string` of the read model `search`, and the keys under which it
 * stores the values of a parameter.
 */
import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { containedType, parameterKey, valueKey } from '#src/fhir/search/keys.ts';
import { searchKey } from '#src/shared/search-key.ts';
import type { Binds } from '../../database/binds.ts';
import type { SearchScope } from './parameter.ts';
import type { Predicate, Values } from './predicate.ts';
import { parts } from './span.ts';

/** Returns the predicate that rows have one of some values. */
export function valuesPredicate(values: Values): Predicate {
  const condition = (binds: Binds) => `r.id in (${idsWith(values, binds)})`;
  return Object.assign(condition, { values, ofEntry: true });
}

/**
 * Returns a query, with the column `id`, for the resources that have one of the values, possibly with
 * duplicates.
 */
export function idsWith({ table, as, keys, by = 'key', condition, span }: Values, binds: Binds): string {
  return parts(span, condition, binds)
    .map(
      (part) =>
        `select ${as}.id from search.${table} ${as} where ${equalsOneOf(`${as}.${by}`, keys, binds)} and ${part}`,
    )
    .join(' union all ');
}

/** Returns the condition that a column equals one of some hashes. */
export function equalsOneOf(column: string, keys: readonly string[], binds: Binds): string {
  const [only, ...others] = keys;
  return only !== undefined && others.length === 0
    ? `${column} = ${binds.add(only, 'int8')}`
    : `${column} = any(${binds.add(keys, 'int8[]')})`;
}

/**
 * Returns SQL, as in `from`, for a resource's rows in a table of the read model `search` (indexes
 * search.period_of and similar). `offset` keeps the planner from using another index for the rest of the
 * condition.
 */
export function rowsOfId(table: string, as: string, id: string): string {
  return `(select ${as}.*, ${as}.ctid as at from search.${table} ${as} where ${as}.id = ${id} offset 0) ${as}`;
}

type Of = Pick<SearchScope, 'tenant' | 'type' | 'contained'>;
type Stored = Pick<CompiledParameter, 'stored'>;

/** Returns the names of the type in the keys of a scope. */
export function typesIn({ type, contained }: Pick<SearchScope, 'type' | 'contained'>): readonly string[] {
  return contained === true ? [type, containedType(type)] : [type];
}

/**
 * Returns the keys of its strings, moments and quantities.
 * @param suffix of the code, such as `LABEL`.
 */
export function parameterKeys({ stored }: Stored, scope: Of, suffix = ''): string[] {
  return typesIn(scope).flatMap((type) =>
    stored.map((code) => searchKey(parameterKey(scope.tenant, type, code + suffix))),
  );
}

/** Returns the keys of forms (`src/fhir/search/keys.ts`), which entries with these values have. */
export function formKeys({ stored }: Stored, forms: readonly string[], scope: Of, suffix = ''): string[] {
  return typesIn(scope).flatMap((type) =>
    stored.flatMap((code) =>
      forms.map((form) => searchKey(valueKey(scope.tenant, type, code + suffix, form))),
    ),
  );
}
