/** `_has:Observation:patient:code`: https://hl7.org/fhir/R4/search.html#has */
import { searchParameter } from '#src/fhir/definitions/search-parameters.ts';
import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { compiledParameter, namesRecord } from '#src/fhir/search/paths.ts';
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import { withArticle } from '#src/shared/article.ts';
import { innerRows, type PredicateOf, renamed, rowsPredicate, stepTo } from './inner.ts';
import { hasKeys, keySets, ofTenant } from './predicates/conditions.ts';
import type { SearchScope } from './predicates/parameter.ts';
import type { Predicate } from './predicates/predicate.ts';
import { referenceKeys } from './predicates/reference-keys.ts';
import { badParameter, parameterKey, type RawParameter } from './raw.ts';

/**
 * Returns the predicate for resources that are referenced by a different resource of the caller, which the rest of the
 * parameter finds.
 * @returns undefined if the referring type isn't one of the 26, or doesn't have one of the parameters
 * @throws Refusal `malformed` for a parameter that can't name the searched type, or an invalid value at the end
 */
export function hasPredicate(
  parameter: RawParameter,
  scope: SearchScope,
  predicateOf: PredicateOf,
): Predicate | undefined {
  const key = parameterKey(parameter);
  const [, type = '', name = '', ...rest] = key.split(':');
  if (rest.length === 0) throw badParameter(key, 'it must have the form _has:Type:reference:parameter');
  if (!isResourceType(type)) return undefined;
  if (type === 'Provenance') throw badParameter(key, '_has is not supported for Provenance');
  const compiled = compiledParameter(type, name);
  if (compiled === undefined) return undefined;
  const inner = { ...stepTo(type, parameter, scope), contained: false };
  if (!mayName(compiled, type, scope.type)) {
    throw badParameter(key, `${type}.${name} cannot refer to ${withArticle(scope.type)}`);
  }
  const predicate = predicateOf(renamed(parameter, rest.join(':')), inner);
  return predicate === undefined ? undefined : referred(compiled, predicate, scope.type, inner);
}

function mayName(compiled: CompiledParameter, type: ResourceType, target: ResourceType): boolean {
  if (compiled.type !== 'reference') return false;
  const targets = searchParameter(type, compiled.code)?.target ?? [];
  return targets.includes('Resource') || targets.includes(target);
}

/**
 * Returns SQL for the resources to which entries of the other type refer: the Patient of their record, or the targets with the
 * key.
 */
function referred(
  compiled: CompiledParameter,
  predicate: Predicate,
  target: ResourceType,
  inner: SearchScope,
): Predicate {
  const ofRecord = namesRecord(inner.type, compiled);
  return rowsPredicate((binds) => {
    if (ofRecord && target !== 'Patient') return 'select null::uuid as id, null::uuid as record where false';
    // Under a grant, only rows that the grant covers count as referring.
    const sets = inner.sees.within === undefined ? keySets([predicate]) : [];
    const rows =
      sets.length > 0
        ? `search.entry e where ${hasKeys('e', sets, binds)}`
        : `search.entry e where e.id = any(array(select r.id from ${innerRows(predicate, inner, binds)}))`;
    const named = ofRecord
      ? `select e.record as id from ${rows}`
      : `select t.id from (select e.keys, e.record, e.targets from ${rows}) e
         cross join lateral unnest(array_append(e.targets, e.record)) t(id)
         where e.keys && array[${referenceKeys(compiled, inner, target, 't.id', binds).join(', ')}]`;
    return `select o.id, o.record from (${named}) n cross join lateral (
      select r.id, r.record from resources.resource r
      where r.id = n.id and ${ofTenant(inner.tenant, true, binds)} and r.type = ${binds.add(target, 'text')}
        and not r.deleted offset 0) o`;
  });
}
