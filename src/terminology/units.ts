/** Checks units that are used as codes of a code system. */
import { isUcum } from '#src/fhir/units/spelled-units.ts';

/** UCUM's code system URL. */
export const UCUM = 'http://unitsofmeasure.org';

/** Returns whether a system's code is a UCUM unit. */
export function isUnit(system: string, code: string): boolean {
  return system === UCUM && isUcum(code);
}
