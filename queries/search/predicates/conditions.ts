/** Predicates as one condition on rows `r`. */
import type { Binds } from '../../database/binds.ts';
import { hasKeys, impliedBy, keySets, withKeys } from './entry-keys.ts';
import type { Predicate } from './predicate.ts';
import { equalsOneOf, rowsOfId } from './stored-values.ts';

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
