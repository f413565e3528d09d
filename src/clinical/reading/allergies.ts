/** Allergies and intolerances: every one that is recorded, active ones first, the most critical of them first. */
import { codes, text } from '#src/fhir/parts.ts';
import { type Dated, happened, newestFirst } from './dates.ts';
import { coded } from './medicines.ts';
import { isOver, uncertainty } from './status.ts';
import type { Around, Coded, Told } from './told.ts';

/** An allergy or intolerance. */
export interface Allergy<Of extends Told = Told> {
  readonly told: Of;
  readonly name: string | undefined;
  readonly codes: readonly Coded[];
  /** A code of allergyintolerance-clinical; undefined if it isn't recorded. */
  readonly status: string | undefined;
  readonly isOver: boolean;
  /** A code of allergyintolerance-verification other than `confirmed`. */
  readonly uncertainty: string | undefined;
  /** Whether a reaction may be life-threatening: `criticality` `high`. */
  readonly isCritical: boolean;
  readonly dated: Dated;
}

/** Reads an allergy. */
export function readAllergy<Of extends Told>(told: Of, { name }: Around): Allergy<Of> {
  const { code, clinicalStatus, verificationStatus, criticality } = told.value;
  return {
    told,
    name: name(code),
    codes: coded(code),
    status: codes(clinicalStatus)[0],
    isOver: isOver(clinicalStatus),
    uncertainty: uncertainty(verificationStatus),
    isCritical: criticality === 'high',
    dated: happened(told),
  };
}

/** Compares allergies: active before over, then the most critical, then the newest. */
export function mostDangerousFirst(a: Allergy, b: Allergy): number {
  return (
    Number(a.isOver) - Number(b.isOver) ||
    riskOf(b) - riskOf(a) ||
    newestFirst(a, b) ||
    (a.told.id < b.told.id ? 1 : -1)
  );
}

/** Criticality: high, not said or not assessable, low (allergy-intolerance-criticality). */
function riskOf({ isCritical, told }: Allergy): number {
  if (isCritical) return 2;
  return text(told.value.criticality) === 'low' ? 0 : 1;
}
