/** `_lastUpdated`: https://hl7.org/fhir/R4/search.html#lastUpdated */

import { momentPredicate } from '../predicates/moment.ts';
import type { SearchParameter } from '../predicates/parameter.ts';

/** `_lastUpdated`: when the current version was recorded, with prefixes and implicit precision. */
export const lastUpdatedParameter: SearchParameter = {
  name: '_lastUpdated',
  appliesTo: () => true,
  predicate: (parameter, scope) =>
    Object.assign(momentPredicate(parameter, 'r.last_updated', scope.now), { recorded: true as const }),
};
