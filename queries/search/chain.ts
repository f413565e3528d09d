/** Chains: `subject:Patient.name`, `patient.organization.name`. https://hl7.org/fhir/R4/search.html#chaining */
import { searchParameter } from '#src/fhir/definitions/search-parameters.ts';
import { type CompiledParameter, compiledParameter } from '#src/fhir/search/paths.ts';
import { isResourceType, type ResourceType, TYPE_NAMES } from '#src/fhir/types.ts';
import { withArticle } from '#src/shared/article.ts';
import type { Binds } from '../binds.ts';
import { innerRows, ofTypes, type PredicateOf, renamed, rowsPredicate, stepTo } from './inner.ts';
import type { SearchScope } from './parameter.ts';
import { hasKeys, ofTenant, type Predicate } from './predicate.ts';
import { badParameter, keyOf, type RawParameter } from './raw.ts';
import { namesRecord, recordKeyOf, referenceKeys } from './reference-keys.ts';

/** Whether a parameter goes through a reference. */
export function isChain(parameter: RawParameter): boolean {
  return keyOf(parameter).includes('.');
}

/**
 * Resources whose reference names one that the rest of the parameter finds, among the caller's own.
 * @returns undefined when the type does not have the first parameter, or no type that it may name the next.
 * @throws Refusal `malformed` for a parameter that is no reference, or cannot name that type, or a bad value at the end.
 */
export function chainPredicate(
  parameter: RawParameter,
  scope: SearchScope,
  predicateOf: PredicateOf,
): Predicate | undefined {
  const key = keyOf(parameter);
  const dot = key.indexOf('.');
  const [name = '', target, ...others] = key.slice(0, dot).split(':');
  const compiled = compiledParameter(scope.type, name);
  if (compiled === undefined) return undefined;
  const types = targetsOf(compiled, scope.type);
  if (compiled.type !== 'reference') throw badParameter(key, `${name} is not a reference`);
  if (others.length > 0 || (target !== undefined && !types.some((type) => type === target))) {
    throw badParameter(key, `${name} cannot name ${withArticle((target ?? '').slice(0, 50))} here`);
  }
  const rest = renamed(parameter, key.slice(dot + 1));
  const ends = ofTypes(target === undefined ? types : types.filter((type) => type === target), (type) =>
    predicateOf(rest, stepTo(type, parameter, scope)),
  );
  return ends.length === 0 ? undefined : referring(compiled, scope, ends);
}

/** The types among the 26 that a reference parameter may name. */
function targetsOf(compiled: CompiledParameter, type: ResourceType): readonly ResourceType[] {
  const targets = searchParameter(type, compiled.code)?.target ?? [];
  return targets.includes('Resource') ? TYPE_NAMES : targets.filter(isResourceType);
}

function referring(
  compiled: CompiledParameter,
  scope: SearchScope,
  ends: readonly (readonly [ResourceType, Predicate])[],
): Predicate {
  const ids = ([type, predicate]: readonly [ResourceType, Predicate], binds: Binds) =>
    `select r.id from ${innerRows(predicate, { ...scope, type }, binds)}`;
  return namesRecord(scope.type, compiled)
    ? // Whatever R4 allows, no record is anybody's but a Patient's.
      inRecords(
        ends.filter(([type]) => type === 'Patient'),
        ids,
        scope,
      )
    : rowsPredicate((binds, sets = []) => {
        const keys = ends.map((end) => {
          const pointing = referenceKeys(compiled, scope, end[0], 'i.id', binds).map((each) => `(${each})`);
          return `select k.key from (${ids(end, binds)}) i cross join lateral (values ${pointing.join(', ')}) k(key)`;
        });
        return `select e.id, e.record from search.entry e where e.keys && array(${keys.join(' union all ')})
          ${sets.length === 0 ? '' : `and ${hasKeys('e', sets, binds)}`}`;
      });
}

type End = readonly [ResourceType, Predicate];

/** The resources in the records of some Patients: indexes resources.resource_of_record, with keys search.entry_keys. */
function inRecords(
  ends: readonly End[],
  ids: (end: End, binds: Binds) => string,
  { tenant, type }: SearchScope,
): Predicate {
  const patients = (binds: Binds) =>
    ends.map((end) => ids(end, binds)).join(' union all ') || 'select null::uuid as id where false';
  const rows = (binds: Binds, sets: readonly (readonly string[])[] = []) =>
    sets.length > 0
      ? `select e.id, e.record from search.entry e where ${hasKeys('e', sets, binds)}
          and e.keys && array(select ${recordKeyOf('i.id')} from (${patients(binds)}) i)`
      : `
    select o.id, o.record from (${patients(binds)}) i cross join lateral (
      select r.id, r.record from resources.resource r
      where r.record = i.id and ${ofTenant(tenant, true, binds)} and r.type = ${binds.add(type, 'text')}
        and not r.deleted offset 0) o`;
  const condition = (binds: Binds) => `r.record = any(array(${patients(binds)}))`;
  return Object.assign(condition, { rows, ofEntry: true });
}
