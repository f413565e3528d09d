/** Reads which medicine a resource is about: https://hl7.org/fhir/R4/medicationrequest.html */
import { codes, first, text } from '#src/fhir/parts.ts';
import type { JsonObject } from '#src/shared/json/json-value.ts';
import { isIdea } from './status.ts';
import { type Around, type Coded, readCodes, type Told } from './told.ts';

/** The medicine that a resource is about. */
export interface MedicineSubject<Of extends Told = Told> {
  readonly told: Of;
  readonly name: string | undefined;
  readonly codes: readonly Coded[];
  /** True if the medicine must not be given. */
  readonly isForbidden: boolean;
}

/** Statuses of requests that were never placed as orders. */
const NO_ORDER: ReadonlySet<string> = new Set(['draft', 'cancelled']);

/** Returns whether a resource states something about a medicine. Ideas, drafts, and prohibitions that have ended don't. */
export function isMedicine({ status, intent, doNotPerform }: JsonObject): boolean {
  if (isIdea(intent) || NO_ORDER.has(text(status) ?? '')) return false;
  return doNotPerform !== true || status === 'active';
}

/** Reads which medicine a resource is about. */
export function readMedicineSubject<Of extends Told>(
  told: Of,
  { look, name }: Pick<Around, 'look' | 'name'>,
): MedicineSubject<Of> {
  const { medicationReference: reference, medicationCodeableConcept: concept, doNotPerform } = told.value;
  const referred = first(reference);
  const code = concept ?? (referred === undefined ? undefined : look(referred.reference, told.value)?.code);
  return {
    told,
    name: name(code) ?? text(referred?.display),
    codes: readCodes(code),
    isForbidden: doNotPerform === true,
  };
}

/** Returns the Medication in the directory that a resource refers to, as `Medication/<id>`. */
export function referredMedication({ medicationReference }: JsonObject): string | undefined {
  const reference = text(first(medicationReference)?.reference) ?? '';
  return /(?:^|\/)(Medication\/[0-9a-f-]{36})(?:$|\/_history)/.exec(reference)?.[1];
}

/**
 * Returns the reason why a prescription allows no substitution (`allowedBoolean` false, or the code `N`), or an empty text if
 * no reason is given; undefined if substitution is allowed.
 * http://terminology.hl7.org/CodeSystem/v3-substanceAdminSubstitution
 */
export function readNoSubstitution({ substitution }: JsonObject, name: Around['name']): string | undefined {
  const { allowedBoolean, allowedCodeableConcept, reason } = first(substitution) ?? {};
  const isForbidden = allowedBoolean === false || codes(allowedCodeableConcept).includes('N');
  return isForbidden ? ((reason === undefined ? undefined : name(reason)) ?? '') : undefined;
}
