/** Finds birth dates that give an age that no person has reached. */
import type { Implausible } from '#src/shared/implausible.ts';
import type { JsonObject } from '#src/shared/json.ts';
import { type Micros, toInstant } from '#src/shared/time.ts';

/** Years. The oldest person whose age is proven reached 122: J. Calment, 1875 to 1997. */
const OLDEST = 130;

/**
 * Returns a fault if a Patient is, or was at death, older than people become. Of a death without a date nothing is known.
 * @param at when the resource is written
 */
export function impossibleAge(resource: JsonObject, type: string, at: Micros): Implausible | undefined {
  if (type !== 'Patient') return undefined;
  const { birthDate: born, deceasedDateTime: died, deceasedBoolean } = resource;
  if (typeof born !== 'string' || deceasedBoolean === true) return undefined;
  const end = typeof died === 'string' ? died : toInstant(at);
  // By years: at this age the day doesn't matter.
  const age = Number(end.slice(0, 4)) - Number(born.slice(0, 4));
  if (!(age > OLDEST)) return undefined;
  const until = typeof died === 'string' ? `the date of death (${died})` : 'now';
  return {
    code: 'implausible_age',
    element: 'Patient.birthDate',
    message: `${born} is more than ${OLDEST} years before ${until}`,
  };
}
