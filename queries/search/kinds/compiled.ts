/**
 * The parameters whose values the read model `search` stores: compiled from R4's definitions, one kind per
 * type.
 */

import type { CompiledParameter } from '#src/fhir/search/compiled-parameter.ts';
import { PRESENT } from '#src/fhir/search/keys.ts';
import { compiledParameter } from '#src/fhir/search/paths.ts';
import type { ResourceType } from '#src/fhir/types.ts';
import { keysPredicate, noKeysPredicate } from '../predicates/conditions.ts';
import type { SearchParameter, SearchScope } from '../predicates/parameter.ts';
import type { Predicate } from '../predicates/predicate.ts';
import { formKeys } from '../predicates/stored-values.ts';
import { parseTruth, type RawParameter } from '../raw.ts';
import { compositePredicate } from './composite.ts';
import { datePredicate } from './date.ts';
import { nearPredicate } from './near.ts';
import { quantityPredicate } from './quantity.ts';
import { referencePredicate } from './reference.ts';
import { stringPredicate } from './string.ts';
import { tokenPredicate } from './token.ts';
import { uriPredicate } from './uri.ts';

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

/** Returns the parameter with a code of a type; undefined if none is compiled. */
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

/** `:missing`: https://hl7.org/fhir/R4/search.html#missing. @throws Refusal `malformed` */
function missingPredicate(
  parameter: RawParameter,
  compiled: CompiledParameter,
  scope: SearchScope,
): Predicate {
  const missing = parseTruth(parameter);
  const keys = formKeys(compiled, [PRESENT], scope);
  return missing ? noKeysPredicate(keys) : keysPredicate(keys);
}
