/** `_id`: https://hl7.org/fhir/R4/search.html#id */
import { isUuid } from '#src/shared/ids.ts';
import type { Binds } from '../../binds.ts';
import type { SearchParameter } from '../parameter.ts';
import { badParameter, type RawParameter, refuseModifier } from '../raw.ts';

/** The logical id, any of several. */
export const idParameter: SearchParameter = {
  name: '_id',
  appliesTo: () => true,
  predicate(parameter) {
    const ids = parseIds(parameter);
    const condition = (binds: Binds) => `r.id = any(${binds.add(ids, 'uuid[]')})`;
    return Object.assign(condition, { keyed: true, ofEntry: true });
  },
};

const FHIR_ID = /^[A-Za-z0-9.-]{1,64}$/;

/**
 * The ids of a parameter that can exist here at all: ours are UUIDs.
 * @throws Refusal `malformed` for what is no FHIR id.
 */
export function parseIds(parameter: RawParameter): string[] {
  refuseModifier(parameter);
  for (const value of parameter.values) {
    if (!FHIR_ID.test(value)) throw badParameter(parameter.name, 'the value is not a FHIR id');
  }
  return parameter.values.filter(isUuid);
}
