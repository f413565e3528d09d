/**
 * Interprets statuses (the modifier elements `status`, `clinicalStatus`, `verificationStatus`, `intent` and `doNotPerform` in
 * https://hl7.org/fhir/R4/), to find entries that were never true, that have ended, or that are only ideas.
 */
import { codes, text } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import { isObject } from '#src/shared/json/json-value.ts';

/** The reason why a resource states nothing. */
export type Withdrawn = 'entered in error' | 'refuted';

/** Returns whether a resource was entered in error, or states that something isn't true. */
export function withdrawnAs(value: JsonObject): Withdrawn | undefined {
  const verification = codes(value.verificationStatus);
  const statuses = [value.status, value.lifecycleStatus, value.docStatus, ...verification];
  if (statuses.includes('entered-in-error')) return 'entered in error';
  return verification.includes('refuted') ? 'refuted' : undefined;
}

/** Returns whether a request is only an idea that nobody has acted on (request-intent `proposal`, `option`). */
export function isIdea(intent: unknown): boolean {
  return intent === 'proposal' || intent === 'option';
}

/** Returns whether a problem or an allergy is no longer active (condition-clinical, allergyintolerance-clinical). */
export function isOver(clinicalStatus: Json | undefined): boolean {
  return codes(clinicalStatus).some((code) => ['inactive', 'remission', 'resolved'].includes(code));
}

/** Returns the verification status, unless it is `confirmed`. */
export function uncertainty(verificationStatus: Json | undefined): string | undefined {
  return codes(verificationStatus).find((code) => code !== 'confirmed');
}

/** Statuses of Observations and DiagnosticReports that have no result yet, or will never have one. */
const WITHOUT_RESULT: ReadonlySet<string> = new Set(['registered', 'cancelled']);

/** Returns whether an Observation or a DiagnosticReport has a result. */
export function hasResult(status: Json | undefined): boolean {
  return !WITHOUT_RESULT.has(text(status) ?? '');
}

/**
 * Returns whether something in a resource could reverse its meaning: `implicitRules`, or a modifier extension anywhere except
 * in contained resources. https://hl7.org/fhir/R4/extensibility.html#modifierExtension
 */
export function hasModifier(value: JsonObject): boolean {
  if (value.implicitRules !== undefined) return true;
  return hasModifierIn(value);
}

/**
 * Returns the same for a stored resource by searching its text, which is much faster for a large resource.
 * @param body its JSON without whitespace; its `implicitRules`, if any, is in `value`
 */
export function isModified({ implicitRules }: JsonObject, body: string): boolean {
  if (implicitRules !== undefined) return true;
  // Few texts contain the end of this name. Searching for it is ten times as fast as searching for the whole name, because its
  // first letter is much rarer than a quote.
  return body.includes('Extension":') && body.includes('"modifierExtension":');
}

function hasModifierIn(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.some(hasModifierIn);
  if (!isObject(value)) return false;
  if (value.modifierExtension !== undefined) return true;
  return Object.values(value).some(hasModifierIn);
}
