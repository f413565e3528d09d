/**
 * Checks required bindings: the codes that an element may have (https://hl7.org/fhir/R4/terminologies.html#required).
 */
import { isObject, type JsonObject } from '#src/shared/json/json.ts';
import { valueSet } from '../definitions/tables.ts';
import { isMediaType, type PrimitiveTest } from './primitives.ts';
import { asArray } from './walk.ts';

/** Maximum number of codes listed in a message. */
const MOST_NAMED = 12;

/**
 * Returns the test for a bound `code`.
 * @param key the value set.
 */
export function boundCode(key: string): PrimitiveTest {
  if (key === 'mimetypes') {
    return (value) =>
      isMediaType(value)
        ? undefined
        : 'must be a media type (BCP 13): type/subtype, for example application/pdf';
  }
  const codes = new Set(Object.values(valueSet(key)).flat());
  const fault = `must be one of ${nameCodes(key)}`;
  return (value) => (typeof value === 'string' && codes.has(value) ? undefined : fault);
}

/**
 * Returns the test for a bound CodeableConcept: one of its codings must be in the value set. Text or an extension cannot
 * replace that coding.
 */
export function boundConcept(key: string): (concept: JsonObject) => string | undefined {
  const systems = new Map(Object.entries(valueSet(key)).map(([system, codes]) => [system, new Set(codes)]));
  const fault = `must have a coding that is one of ${nameCodes(key)}, with its system`;
  return (concept) => {
    for (const coding of asArray(concept.coding)) {
      if (!isObject(coding) || typeof coding.system !== 'string' || typeof coding.code !== 'string') continue;
      if (systems.get(coding.system)?.has(coding.code)) return undefined;
    }
    return fault;
  };
}

function nameCodes(key: string): string {
  const codes = [...new Set(Object.values(valueSet(key)).flat())];
  return codes.length > MOST_NAMED
    ? `the codes of value set ${key}`
    : `${codes.join(', ')} (value set ${key})`;
}
