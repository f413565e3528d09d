/** `_has:Observation:patient:code`: https://hl7.org/fhir/R4/search.html#has */
import { searchParameter } from '#src/fhir/definitions/search-parameters.ts';
import { type CompiledParameter, compiledParameter } from '#src/fhir/search/paths.ts';
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import type { Binds } from '../binds.ts';
import { innerRows, type PredicateOf, renamed, stepTo } from './inner.ts';
import type { SearchScope } from './parameter.ts';
import { hasKeys, keySets, type Predicate } from './predicate.ts';
import { badParameter, keyOf, type RawParameter } from './raw.ts';
import { namesRecord, referenceKeys } from './reference-keys.ts';

/**
 * Resources that are named by another, found by the rest of the parameter among the caller's own.
 * @returns undefined when the other type is none of the 26, or does not have one of the parameters.
 * @throws Refusal `malformed` for a parameter that cannot name the searched type, or a bad value at the end.
 */
export function hasPredicate(
  parameter: RawParameter,
  scope: SearchScope,
  predicateOf: PredicateOf,
): Predicate | undefined {
  const key = keyOf(parameter);
  const [, type = '', name = '', ...rest] = key.split(':');
  if (rest.length === 0) throw badParameter(key, 'it must be _has:Type:reference:parameter');
  if (!isResourceType(type)) return undefined;
  if (type === 'Provenance') throw badParameter(key, '_has cannot ask for Provenance');
  const compiled = compiledParameter(type, name);
  if (compiled === undefined) return undefined;
  const inner = stepTo(type, parameter, scope);
  if (!mayName(compiled, type, scope.type)) {
    throw badParameter(key, `${name} of ${type} cannot name a ${scope.type}`);
  }
  const predicate = predicateOf(renamed(parameter, rest.join(':')), inner);
  return predicate === undefined ? undefined : referred(compiled, predicate, scope.type, inner);
}

function mayName(compiled: CompiledParameter, type: ResourceType, target: ResourceType): boolean {
  if (compiled.type !== 'reference') return false;
  if (namesRecord(type, compiled)) return target === 'Patient';
  const targets = searchParameter(type, compiled.code)?.target ?? [];
  return targets.includes('Resource') || targets.includes(target);
}

/** What the entries of the other type's rows name: their record's Patient, or those of their targets with the key. */
function referred(
  compiled: CompiledParameter,
  predicate: Predicate,
  target: ResourceType,
  inner: SearchScope,
): Predicate {
  const condition = (binds: Binds) => {
    const sets = keySets([predicate]);
    const rows =
      sets.length > 0
        ? `search.entry e where ${hasKeys('e', sets, binds)}`
        : `search.entry e where e.id = any(array(select r.id from ${innerRows(predicate, inner, binds)}))`;
    if (namesRecord(inner.type, compiled)) return `r.id = any(array(select distinct e.record from ${rows}))`;
    const keys = referenceKeys(compiled, inner, target, 't.id', binds);
    return `r.id = any(array(
      select distinct t.id from (select e.keys, e.record, e.targets from ${rows}) e
      cross join lateral unnest(array_append(e.targets, e.record)) t(id)
      where e.keys && array[${keys.join(', ')}]))`;
  };
  return Object.assign(condition, { keyed: true, ofEntry: true });
}
