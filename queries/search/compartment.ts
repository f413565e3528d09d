/** Compartments other than a Patient's: https://hl7.org/fhir/R4/search.html#compartment */
import { type CompartmentType, compartmentParameters, ITSELF } from '#src/fhir/compartments.ts';
import { compiledParameter } from '#src/fhir/search/paths.ts';
import { findParameter } from './parameters.ts';
import { keysPredicate } from './predicates/conditions.ts';
import type { SearchScope } from './predicates/parameter.ts';
import type { Predicate } from './predicates/predicate.ts';
import { keysOfReferences } from './predicates/reference-keys.ts';

/** A compartment whose resources refer to the compartment's owner through reference parameters. */
export interface NamedCompartment {
  readonly type: Exclude<CompartmentType, 'Patient'>;
  readonly id: string;
}

/** Returns the predicate that a resource of the scope's type is in a compartment. */
export function compartmentPredicate(compartment: NamedCompartment, scope: SearchScope): Predicate {
  const codes = compartmentParameters(compartment.type, scope.type);
  if (codes.includes(ITSELF)) {
    const { id } = compartment;
    const own = findParameter(scope.type, { name: ITSELF });
    if (own !== undefined) return own.predicate({ name: ITSELF, values: [id], text: id }, scope);
  }
  const keys = codes.flatMap((code) => {
    const compiled = compiledParameter(scope.type, code);
    return compiled === undefined ? [] : keysOfReferences(compiled, scope, [compartment]);
  });
  return keysPredicate(keys);
}
