/** The table of search parameters. A new kind is a file in `kinds/` and a line here. */
import type { ResourceType } from '#src/fhir/types.ts';
import { chainPredicate, isChain } from './chain.ts';
import { hasPredicate } from './has.ts';
import { compiledSearchParameter } from './kinds/compiled.ts';
import { idParameter } from './kinds/id.ts';
import { identifierParameter } from './kinds/identifier.ts';
import { lastUpdatedParameter } from './kinds/last-updated.ts';
import { patientParameter, subjectParameter } from './kinds/record.ts';
import type { SearchParameter, SearchScope } from './predicates/parameter.ts';
import type { Predicate } from './predicates/predicate.ts';
import type { RawParameter } from './raw.ts';

const PARAMETERS: readonly SearchParameter[] = [
  idParameter,
  lastUpdatedParameter,
  patientParameter,
  subjectParameter,
];

/**
 * Returns a type's parameter by its name, if the type has it. Parameters in the table use more than the
 * resource's own values; modifiers that they don't handle work as for any other parameter.
 * `queries/provenance/search.ts` searches Provenances.
 */
export function findParameter(
  type: ResourceType,
  { name, modifier }: Pick<RawParameter, 'name' | 'modifier'>,
): SearchParameter | undefined {
  const own = PARAMETERS.find((parameter) => parameter.name === name && parameter.appliesTo(type));
  const compiled = compiledSearchParameter(type, name);
  if (own === undefined || compiled === undefined) return own ?? compiled;
  return modifier === undefined || modifier === 'Patient' ? own : compiled;
}

/**
 * Returns the predicate of a parameter, including chains and `_has`; undefined when the scope's type doesn't
 * have it.
 * @throws Refusal `malformed` naming the parameter, for a modifier or a value that it doesn't take.
 */
export function parameterPredicate(parameter: RawParameter, scope: SearchScope): Predicate | undefined {
  if (parameter.name === '_has') return hasPredicate(parameter, scope, parameterPredicate);
  if (isChain(parameter)) return chainPredicate(parameter, scope, parameterPredicate);
  if (scope.exact === true && parameter.name === 'identifier' && parameter.modifier === undefined) {
    return identifierParameter.appliesTo(scope.type)
      ? identifierParameter.predicate(parameter, scope)
      : undefined;
  }
  return findParameter(scope.type, parameter)?.predicate(parameter, scope);
}
