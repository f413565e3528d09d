/** Reads all recorded allergies and intolerances: active ones first, and among these, the most critical first. */
import { objects, text } from '#src/fhir/parts.ts';
import type { JsonObject } from '#src/shared/json/json-value.ts';
import { newestFirst } from './dates.ts';
import { readStated, type Stated } from './stated.ts';
import type { Around, Told } from './told.ts';

/** An allergy or intolerance. */
export interface Allergy<Of extends Told = Told> extends Stated<Of> {
  /** True if a reaction may be life-threatening: `criticality` `high`. */
  readonly isCritical: boolean;
}

/** Reads an allergy. If it has no code, it is named after the substances in its reactions. */
export function readAllergy<Of extends Told>(told: Of, around: Around): Allergy<Of> {
  const stated = readStated(told, around);
  const name = stated.name ?? reactionSubstances(told.value, around.name);
  return { ...stated, name, isCritical: told.value.criticality === 'high' };
}

/**
 * Returns the names of the substances that caused an allergy's reactions; undefined if no substance is named. These substances
 * may be more specific than the allergy's code
 * (https://hl7.org/fhir/R4/allergyintolerance-definitions.html#AllergyIntolerance.reaction.substance).
 */
export function reactionSubstances({ reaction }: JsonObject, name: Around['name']): string | undefined {
  const names = objects(reaction).flatMap(({ substance }) => name(substance) ?? []);
  return names.length === 0 ? undefined : [...new Set(names)].join(', ');
}

/** Returns the substance that caused a reaction; undefined if the allergy's name already contains it. */
export function reactionCause(
  { substance }: JsonObject,
  name: Around['name'],
  allergy: string | undefined,
): string | undefined {
  const cause = name(substance);
  return cause?.toLowerCase() === allergy?.toLowerCase() ? undefined : cause;
}

/** Compares allergies: active before ended, then the most critical first, then the newest first. */
export function mostDangerousFirst(a: Allergy, b: Allergy): number {
  return (
    Number(a.isOver) - Number(b.isOver) ||
    rankRisk(b) - rankRisk(a) ||
    newestFirst(a, b) ||
    (a.told.id < b.told.id ? 1 : -1)
  );
}

/** Ranks criticality: high, not stated or not assessable, low (allergy-intolerance-criticality). */
function rankRisk({ isCritical, told }: Allergy): number {
  if (isCritical) return 2;
  return text(told.value.criticality) === 'low' ? 0 : 1;
}
