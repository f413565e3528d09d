/** Allergies and intolerances: every one that is recorded, active ones first, the most critical of them first. */
import { text } from '#src/fhir/parts.ts';
import { newestFirst } from './dates.ts';
import { readStated, type Stated } from './stated.ts';
import type { Around, Told } from './told.ts';

/** An allergy or intolerance. */
export interface Allergy<Of extends Told = Told> extends Stated<Of> {
  /** True if a reaction may be life-threatening: `criticality` `high`. */
  readonly isCritical: boolean;
}

/** Reads an allergy. */
export function readAllergy<Of extends Told>(told: Of, around: Around): Allergy<Of> {
  return { ...readStated(told, around), isCritical: told.value.criticality === 'high' };
}

/** Compares allergies: active before over, then the most critical, then the newest. */
export function mostDangerousFirst(a: Allergy, b: Allergy): number {
  return (
    Number(a.isOver) - Number(b.isOver) ||
    rankRisk(b) - rankRisk(a) ||
    newestFirst(a, b) ||
    (a.told.id < b.told.id ? 1 : -1)
  );
}

/** Criticality: high, not said or not assessable, low (allergy-intolerance-criticality). */
function rankRisk({ isCritical, told }: Allergy): number {
  if (isCritical) return 2;
  return text(told.value.criticality) === 'low' ? 0 : 1;
}
