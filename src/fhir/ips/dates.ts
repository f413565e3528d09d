/** When what a resource tells of happened, or began: sections are sorted by it, newest first. */
import type { Json } from '#src/shared/json.ts';
import { first, text } from './parts.ts';
import type { Source } from './source.ts';

/** Elements that tell it, the better ones first. */
const DATES: Readonly<Record<string, readonly string[]>> = {
  Condition: ['onsetDateTime', 'onsetPeriod', 'recordedDate'],
  AllergyIntolerance: ['lastOccurrence', 'onsetDateTime', 'onsetPeriod', 'recordedDate'],
  MedicationStatement: ['effectiveDateTime', 'effectivePeriod', 'dateAsserted'],
  MedicationRequest: ['authoredOn'],
  Immunization: ['occurrenceDateTime', 'recorded'],
  Observation: ['effectiveDateTime', 'effectiveInstant', 'effectivePeriod', 'issued'],
  DiagnosticReport: ['effectiveDateTime', 'effectivePeriod', 'issued'],
  Procedure: ['performedDateTime', 'performedPeriod'],
  CarePlan: ['period', 'created'],
  DocumentReference: ['date'],
};

/** The members of resources that tell it. */
export const DATED_BY: readonly string[] = Object.values(DATES).flat();

/** Milliseconds since 1970; the smallest number if unknown. */
export function happenedAt({ type, value }: Source): number {
  for (const name of DATES[type] ?? []) {
    const element = value[name];
    if (element === undefined) continue;
    // Of FHIR's dates the platform reads all but a leap second.
    const moment = Date.parse(text(element) ?? endOf(element) ?? '');
    if (!Number.isNaN(moment)) return moment;
  }
  return Number.NEGATIVE_INFINITY;
}

/** A Period's start, or its end where it has none. */
function endOf(period: Json): string | undefined {
  const { start, end } = first(period) ?? {};
  return text(start) ?? text(end);
}
