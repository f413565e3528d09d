/** Handles omitted units. If LOINC defines no unit for the code, the unit is `1`; otherwise the unit is reported as missing. */
import type { Issue } from '#src/shared/issue.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { LOINC, splitCode } from '#src/v1/elements.ts';
import type { GivenComponent, GivenObservation } from '#src/v1/observation.ts';
import type { RestRequest } from './record.ts';

/** The UCUM unit for a number without a unit. */
const UNITY = '1';

/** A component in a request. */
type SentComponent = Omit<GivenComponent, 'unit'> & { readonly unit?: string | undefined };

/** An observation in a request. */
type Sent = Omit<GivenObservation, 'components'> & {
  readonly components?: readonly SentComponent[] | undefined;
};

/**
 * Fills in omitted units and returns an observation in which all numbers have units.
 * @throws Refusal invalid (422), which names each missing unit.
 */
export async function withAbsentUnits(request: RestRequest, given: Sent): Promise<GivenObservation> {
  const faults: Issue[] = [];
  const findUnit = async (of: Pick<Sent, 'code' | 'system'>, at: string): Promise<string> => {
    const fault = await faultOfAbsence(request, of);
    if (fault !== undefined)
      faults.push({ code: 'required', diagnostics: `${at} is missing: ${fault}`, expression: at });
    return UNITY;
  };
  const { value, unit, components } = given;
  const own = value === undefined || unit !== undefined ? unit : await findUnit(given, 'unit');
  const parts: GivenComponent[] = [];
  for (const [n, part] of (components ?? []).entries())
    parts.push({ ...part, unit: part.unit ?? (await findUnit(part, `components.${n}.unit`)) });
  if (faults.length > 0) throw new Refusal('invalid', faults);
  return { ...given, unit: own, components: components === undefined ? undefined : parts };
}

/** Matches LOINC's names for properties that must have a unit, even if it isn't known which unit: `[Units/volume]`. */
const QUOTIENT = /\[[^\]]+\/[^\]]+\]/;

/** Returns why a code needs a unit; undefined if LOINC defines no unit for it. */
async function faultOfAbsence(
  { services }: RestRequest,
  given: Pick<Sent, 'code' | 'system'>,
): Promise<string | undefined> {
  const { system = given.system ?? LOINC, code } = splitCode(given.code ?? '');
  const known = system === LOINC ? await services.describeCode(LOINC, code) : undefined;
  if (known === undefined || (known.unit === null && QUOTIENT.test(known.display ?? '')))
    return `give the UCUM unit, or ${UNITY} for a number without a unit`;
  return known.unit === null ? undefined : `LOINC gives ${code} in ${known.unit}`;
}
