/** The table of search parameters. A new kind is a file in `kinds/` and a line here. */
import type { ResourceType } from '#src/fhir/types.ts';
import { chainPredicate, isChain } from './chain.ts';
import { hasPredicate } from './has.ts';
import { compiledSearchParameter } from './kinds/compiled.ts';
import { idParameter } from './kinds/id.ts';
import { identifierParameter } from './kinds/identifier.ts';
import { lastUpdatedParameter } from './kinds/last-updated.ts';
import { patientParameter, subjectParameter } from './kinds/record.ts';
import type { SearchParameter, SearchScope } from './parameter.ts';
import type { Predicate } from './predicate.ts';
import type { RawParameter } from './raw.ts';

const PARAMETERS: readonly SearchParameter[] = [
  idParameter,
  lastUpdatedParameter,
  patientParameter,
  subjectParameter,
];

/**
 * The parameter of a name, if the type has it. Those of the table know more than what a resource says; with the
 * modifiers that they leave to others they are like any. Provenance is searched by `queries/provenance/search.ts`.
 */
export function parameterOf(
  type: ResourceType,
  { name, modifier }: Pick<RawParameter, 'name' | 'modifier'>,
): SearchParameter | undefined {
  const own = PARAMETERS.find((parameter) => parameter.name === name && parameter.appliesTo(type));
  const compiled = compiledSearchParameter(type, name);
  if (own === undefined || compiled === undefined) return own ?? compiled;
  return modifier === undefined || modifier === 'Patient' ? own : compiled;
}

/**
 * What a parameter comes down to, chains and `_has` included; undefined when the scope's type does not have it.
 * @throws Refusal `malformed` naming the parameter, for a modifier or a value that it does not take.
 */
export function predicateOf(parameter: RawParameter, scope: SearchScope): Predicate | undefined {
  if (parameter.name === '_has') return hasPredicate(parameter, scope, predicateOf);
  if (isChain(parameter)) return chainPredicate(parameter, scope, predicateOf);
  if (scope.exact === true && parameter.name === 'identifier' && parameter.modifier === undefined) {
    return identifierParameter.appliesTo(scope.type)
      ? identifierParameter.predicate(parameter, scope)
      : undefined;
  }
  return parameterOf(scope.type, parameter)?.predicate(parameter, scope);
}
