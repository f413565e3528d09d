/**
 * `:below` and `:above` on references: match a resource and its parts, or the resources of which it is a part.
 * https://hl7.org/fhir/R4/search.html#reference
 */
import { searchParameter } from '#src/fhir/definitions/search-parameters.ts';
import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { compiledParameter } from '#src/fhir/search/paths.ts';
import { isResourceType, type ResourceType } from '#src/fhir/types.ts';
import { isUuid } from '#src/shared/ids.ts';
import type { Binds } from '../../database/binds.ts';
import { rowsPredicate } from '../inner.ts';
import type { SearchScope } from '../predicates/parameter.ts';
import type { Predicate } from '../predicates/predicate.ts';
import { referenceKeys } from '../predicates/reference-keys.ts';
import { badParameter, parameterKey, type RawParameter, refuseModifier } from '../raw.ts';
import { parseReference } from './record.ts';

/**
 * Returns the parameter that says which resource of the same type a resource is part of: Location, Organization, Encounter,
 * Procedure …
 */
function findPartParameter(type: ResourceType): CompiledParameter | undefined {
  return [compiledParameter(type, 'partof'), compiledParameter(type, 'part-of')].find(
    (found) => found !== undefined && searchParameter(type, found.code)?.target?.includes(type) === true,
  );
}

/**
 * Matches references to one of the resources, or to resources below or above it.
 * @throws Refusal `malformed` if none of the parameter's target types has a hierarchy, and for an invalid value
 */
export function hierarchyPredicate(
  parameter: RawParameter,
  compiled: CompiledParameter,
  scope: SearchScope,
): Predicate {
  const targets = searchParameter(scope.type, compiled.code)?.target ?? [];
  const types = targets.filter(isResourceType).filter((type) => findPartParameter(type) !== undefined);
  if (types.length === 0) refuseModifier(parameter);
  const roots = parameter.values.flatMap((value) => {
    const { type, id } = parseReference(parameter, value, scope);
    if (type === undefined && types.length > 1) {
      throw badParameter(parameterKey(parameter), `the value must name a type: ${types.join(', ')}`);
    }
    const root = types.find((each) => type === undefined || each === type);
    return root === undefined || !isUuid(id) ? [] : [{ type: root, id }];
  });
  return rowsPredicate((binds) => {
    const keys = roots.map(({ type, id }) => {
      const pointing = referenceKeys(compiled, scope, type, 'h.id', binds).map((each) => `(${each})`);
      return `(with recursive h(id) as (${walk(parameter, type, id, scope, binds)})
        select k.key from h cross join lateral (values ${pointing.join(', ')}) k(key))`;
    });
    if (keys.length === 0) return 'select null::uuid as id, null::uuid as record where false';
    return `select e.id, e.record from search.entry e where e.keys && array(${keys.join(' union all ')})`;
  });
}

/** Each resource is visited only once, so that a cycle doesn't continue forever. */
function walk(
  { modifier }: RawParameter,
  type: ResourceType,
  id: string,
  scope: SearchScope,
  binds: Binds,
): string {
  const first = `select ${binds.add(id, 'uuid')} union`;
  const part = findPartParameter(type);
  if (part === undefined) throw new Error(`${type} has no hierarchy`);
  const keys = (of: string) => referenceKeys(part, { ...scope, type }, type, of, binds).join(', ');
  return modifier === 'below'
    ? `${first} select f.id from h cross join lateral
        (select e.id from search.entry e where e.keys && array[${keys('h.id')}] offset 0) f`
    : `${first} select t.id from h join search.entry e on e.id = h.id
        cross join lateral unnest(array_append(e.targets, e.record)) t(id)
        where e.keys && array[${keys('t.id')}]`;
}
