/** `_id`: https://hl7.org/fhir/R4/search.html#id */
import { isUuid } from '#src/shared/ids.ts';
import type { Binds } from '../../database/binds.ts';
import type { SearchParameter } from '../predicates/parameter.ts';
import { badParameter, parameterKey, parseTruth, type RawParameter, refuseModifier } from '../raw.ts';

/**
 * Matches any of several logical ids or, with `:not`, none of them. Every resource has an id, but `:missing` is accepted too.
 */
export const idParameter: SearchParameter = {
  name: '_id',
  appliesTo: () => true,
  predicate(parameter) {
    refuseModifier(parameter, ['not', 'missing']);
    if (parameter.modifier === 'missing') {
      const found = parseTruth(parameter) ? 'false' : 'true';
      return Object.assign(() => found, { ofEntry: true });
    }
    const ids = parseIds(parameter);
    const condition = (binds: Binds) => `r.id = any(${binds.add(ids, 'uuid[]')})`;
    return parameter.modifier === 'not'
      ? Object.assign((binds: Binds) => `not ${condition(binds)}`, { ofEntry: true })
      : Object.assign(condition, { keyed: true, ofEntry: true });
  },
};

const FHIR_ID = /^[A-Za-z0-9.-]{1,64}$/;

/**
 * Returns those of a parameter's ids that could exist: our ids are UUIDs.
 * @throws Refusal `malformed` for an invalid FHIR id
 */
export function parseIds(parameter: RawParameter): string[] {
  for (const value of parameter.values) {
    if (!FHIR_ID.test(value))
      throw badParameter(
        parameterKey(parameter),
        'the value is not a FHIR id (1 to 64 letters, digits, hyphens and dots)',
      );
  }
  return parameter.values.filter(isUuid);
}
