/** Rows of a different type on which a search depends: at the end of a chain, and in `_has`. */
import { containedKey, recordKey, searchKey } from '#src/fhir/search/keys.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { requireOnType } from '#src/shared/access/outside-grant.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { Binds } from '../database/binds.ts';
import { andSeen, findHome } from '../sight.ts';
import {
  combinePredicates,
  hasKeys,
  idsWith,
  keySets,
  ofTenant,
  withKeys,
  writeCheck,
} from './predicates/conditions.ts';
import type { SearchScope } from './predicates/parameter.ts';
import type { Predicate } from './predicates/predicate.ts';
import { badParameter, parameterKey, type RawParameter } from './raw.ts';

/** Returns the predicate for a parameter of a scope's type; undefined if the type doesn't have the parameter. */
export type PredicateOf = (parameter: RawParameter, scope: SearchScope) => Predicate | undefined;

/** The maximum number of steps from one type to another within one parameter. */
export const MAX_DEPTH = 6;
/**
 * Codes of refusals that apply to more than a single type: if the search continued with fewer types, it would return too
 * little.
 */
const AT_ONCE: ReadonlySet<string> = new Set(['too-costly', 'forbidden']);

/**
 * The maximum number of steps in all parameters of a search together. If a reference may name several types, each type counts
 * as a step.
 */
const MAX_STEPS = 250;

/**
 * Returns the scope of a different type one step further along a chain; the caller stays the same.
 * @throws Refusal `malformed` for a parameter with too many steps, `too-costly` for a search with too many steps; forbidden
 * (403) for a type that the grant doesn't cover
 */
export function stepTo(type: ResourceType, parameter: RawParameter, scope: SearchScope): SearchScope {
  requireOnType(scope.sees, type, 's');
  const depth = (scope.depth ?? 0) + 1;
  if (depth > MAX_DEPTH)
    throw badParameter(parameterKey(parameter), `chains of more than ${MAX_DEPTH} steps are not supported`);
  if (scope.steps !== undefined) {
    scope.steps.taken += 1;
    if (scope.steps.taken > MAX_STEPS) {
      throw new Refusal('malformed', {
        code: 'too-costly',
        diagnostics: `the chains and _has parameters of a search can lead to at most ${MAX_STEPS} types, counted per path; name the types, for example subject:Patient.name`,
      });
    }
  }
  return { ...scope, type, from: scope.type, depth };
}

/** Returns a parameter with a different name but the same values. */
export function renamed({ values, text }: RawParameter, key: string): RawParameter {
  const colon = key.indexOf(':');
  return colon < 0
    ? { name: key, values, text }
    : { name: key.slice(0, colon), modifier: key.slice(colon + 1), values, text };
}

/**
 * Collects the predicates of a parameter for several types. A value that is invalid for one type may be valid for another.
 * @throws Refusal the first type's error, if the parameter is invalid for all types; immediately for a search that is too
 * costly, or that leads to a type that the grant doesn't cover
 */
export function ofTypes<T>(
  types: readonly T[],
  makePredicate: (type: T) => Predicate | undefined,
): [T, Predicate][] {
  const found: [T, Predicate][] = [];
  let refused: unknown;
  for (const type of types) {
    try {
      const predicate = makePredicate(type);
      if (predicate !== undefined) found.push([type, predicate]);
    } catch (error) {
      if (!(error instanceof Refusal) || AT_ONCE.has(error.issues[0]?.code ?? '')) throw error;
      refused ??= error;
    }
  }
  if (found.length === 0 && refused !== undefined) throw refused;
  return found;
}

/**
 * Returns SQL, `from` … `where`, for the live rows of the scope's type that match a predicate; select `r.id` from it. If the
 * scope has `contained`, the rows of contained resources are included; the predicate's keys and values cover both kinds of
 * rows.
 */
export function innerRows(
  predicate: Predicate,
  scope: Pick<SearchScope, 'tenant' | 'sees' | 'type' | 'from' | 'contained'>,
  binds: Binds,
): string {
  if (scope.sees.within !== undefined) return seenRows(predicate, scope, scope.sees.within.record, binds);
  const { tenant, type, contained } = scope;
  if (predicate.rows !== undefined) return `(${predicate.rows(binds)}) r where true`;
  const sets = keySets([predicate]);
  // Keys contain the tenant and the type, and a deleted resource has no keys.
  if (sets.length > 0) return `search.entry r where ${hasKeys('r', sets, binds)}`;
  if (predicate.values !== undefined) return `(${idsWith(predicate.values, binds)}) r where true`;
  const own = `resources.resource r where ${ofTenant(tenant, predicate.keyed === true, binds)}
    and r.type = ${binds.add(type, 'text')} and not r.deleted and ${combinePredicates([predicate], binds)}`;
  if (contained !== true || predicate.without === undefined) return own;
  const every = [[searchKey(containedKey(tenant, type))]];
  return `(select r.id from ${own} union all
    select e.id from search.entry e where ${hasKeys('e', every, binds)}
      and not e.keys && ${binds.add(predicate.without, 'int8[]')}) r where true`;
}

/**
 * Returns SQL like `innerRows`, for the rows that a grant covers. The rows are found through the record's own indexes, so that
 * rows of other records aren't read. Contained resources are visible if their containers are.
 */
function seenRows(
  predicate: Predicate,
  {
    tenant,
    sees,
    type,
    from,
    contained,
  }: Pick<SearchScope, 'tenant' | 'sees' | 'type' | 'from' | 'contained'>,
  record: string,
  binds: Binds,
): string {
  const ofRecord = [[searchKey(recordKey(record))]];
  const inRecord = findHome(type) === 'record';
  const condition = (sets: readonly (readonly string[])[]): string => {
    const own = keySets([predicate]);
    if (own.length > 0) return withKeys([...own, ...sets], binds);
    if (predicate.rows === undefined) return writeCheck(predicate, binds);
    return `r.id = any(array(select distinct x.id from (${predicate.rows(binds, sets)}) x))`;
  };
  const found = inRecord
    ? condition(ofRecord)
    : predicate.keyed === true
      ? condition([])
      : combinePredicates([predicate], binds);
  const rows = `resources.resource r where ${ofTenant(tenant, inRecord || predicate.keyed === true, binds)}
    and r.type = ${binds.add(type, 'text')} and not r.deleted and (${found})
    ${andSeen(sees, 's', { as: 'r', of: 'current', type }, binds.add.bind(binds))}`;
  const { keys, values, rows: some, without } = predicate;
  if (contained !== true || (keys ?? values ?? some ?? without) === undefined) return rows;
  const home = from === undefined ? 'record' : findHome(from);
  const inner = [[searchKey(containedKey(tenant, type))]];
  const parts = [`select r.id from ${rows}`];
  const check = (sets: readonly (readonly string[])[]) =>
    without === undefined ? `(${condition(sets)})` : `not r.keys && ${binds.add(without, 'int8[]')}`;
  if (home !== 'directory') {
    const sets = [...inner, ...ofRecord];
    parts.push(`select r.id from search.entry r where ${hasKeys('r', sets, binds)} and ${check(ofRecord)}`);
  }
  if (home !== 'record') {
    parts.push(
      `select r.id from search.entry r where ${hasKeys('r', inner, binds)} and r.record is null and ${check([])}`,
    );
  }
  return `(${parts.join(' union all ')}) r where true`;
}

/** Returns a predicate that finds rows by their ids; if a row is only checked, the array of ids is computed once. */
export function rowsPredicate(rows: NonNullable<Predicate['rows']>): Predicate {
  const condition = (binds: Binds) => `r.id = any(array(select distinct x.id from (${rows(binds)}) x))`;
  return Object.assign(condition, { rows, ofEntry: true });
}
