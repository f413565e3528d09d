/**
 * The table of search parameters, and which searches can be answered from the read model `resources` alone, so that they don't
 * wait for `search`. To add a kind, add a file in `kinds/` and a line here.
 */

import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { PRESENT } from '#src/fhir/search/keys.ts';
import { compiledParameter } from '#src/fhir/search/paths.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { CURSOR } from '../cursor.ts';
import { chainPredicate } from './chain.ts';
import { hasPredicate } from './has.ts';
import { compositePredicate } from './kinds/composite.ts';
import { datePredicate } from './kinds/date.ts';
import { idParameter } from './kinds/id.ts';
import { identifierParameter } from './kinds/identifier.ts';
import { lastUpdatedParameter } from './kinds/last-updated.ts';
import { nearPredicate } from './kinds/near.ts';
import { quantityPredicate } from './kinds/quantity.ts';
import { patientParameter, subjectParameter } from './kinds/record.ts';
import { referencePredicate } from './kinds/reference.ts';
import { stringPredicate } from './kinds/string.ts';
import { tokenPredicate } from './kinds/token.ts';
import { uriPredicate } from './kinds/uri.ts';
import { formKeys, keysPredicate, noKeysPredicate } from './predicates/conditions.ts';
import type { SearchParameter, SearchScope } from './predicates/parameter.ts';
import type { Predicate } from './predicates/predicate.ts';
import { isChain, parseRaw, parseTruth, type RawParameter } from './raw.ts';

const PARAMETERS: readonly SearchParameter[] = [
  idParameter,
  lastUpdatedParameter,
  patientParameter,
  subjectParameter,
];

/**
 * Returns a type's parameter by its name, if the type has it. The parameters in the table use more than the resource's own
 * values; a modifier that they don't handle works as for any other parameter. Searches for Provenance are in
 * `queries/provenance/search.ts`.
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
 * Returns a parameter's predicate, including chains and `_has`; undefined if the scope's type doesn't have the parameter.
 * @throws Refusal `malformed` naming the parameter, for a modifier or a value that it doesn't accept
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

/** The kinds of parameters whose values the read model `search` stores, by their types in R4's definitions. */
const KINDS: Readonly<
  Record<
    CompiledParameter['type'],
    (parameter: RawParameter, compiled: CompiledParameter, scope: SearchScope) => Predicate
  >
> = {
  token: tokenPredicate,
  reference: referencePredicate,
  date: datePredicate,
  string: stringPredicate,
  uri: uriPredicate,
  quantity: quantityPredicate,
  composite: compositePredicate,
  special: nearPredicate,
};

/** Returns the parameter with a given code for a type; undefined if no such parameter is compiled. */
export function compiledSearchParameter(type: ResourceType, code: string): SearchParameter | undefined {
  const compiled = compiledParameter(type, code);
  if (compiled === undefined) return undefined;
  return {
    name: code,
    appliesTo: (other) => other === type,
    predicate: (parameter, scope) =>
      parameter.modifier === 'missing' && compiled.type !== 'composite'
        ? missingPredicate(parameter, compiled, scope)
        : KINDS[compiled.type](parameter, compiled, scope),
  };
}

/**
 * `:missing`: https://hl7.org/fhir/R4/search.html#missing.
 * @throws Refusal `malformed`
 */
function missingPredicate(
  parameter: RawParameter,
  compiled: CompiledParameter,
  scope: SearchScope,
): Predicate {
  const missing = parseTruth(parameter);
  const keys = formKeys(compiled, [PRESENT], scope);
  return missing ? noKeysPredicate(keys) : keysPredicate(keys);
}

/** Parameters on columns that every resource has, and parameters that only shape the result. */
const OF_ROW = new Set(['_id', '_lastUpdated', '_count', '_total', '_summary', '_format', '_pretty', CURSOR]);
/** The sort keys that are columns of the row. */
const SORTS = new Set(['_id', '_lastUpdated']);

/**
 * Returns true if a type's search uses only ids, recording times and records.
 * @throws Refusal in the same cases as `parseRaw`
 */
export function isOfResources(type: ResourceType, query: URLSearchParams): boolean {
  return parseRaw(query).every((parameter) => isOfRow(parameter) || isRecord(type, parameter));
}

function isOfRow({ name, modifier, values }: RawParameter): boolean {
  if (modifier !== undefined) return name === '_id' && (modifier === 'not' || modifier === 'missing');
  return (
    OF_ROW.has(name) || (name === '_sort' && values.every((value) => SORTS.has(value.replace(/^-/, ''))))
  );
}

/** Returns true if a parameter is about the record, which is a column of the resource's row. */
function isRecord(type: ResourceType, parameter: RawParameter): boolean {
  const { name, modifier } = parameter;
  if (name !== 'patient' && name !== 'subject') return false;
  const known = findParameter(type, parameter);
  return (
    (modifier === undefined || modifier === 'Patient') &&
    (known === patientParameter || known === subjectParameter)
  );
}
