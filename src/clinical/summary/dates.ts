/** Finds when a resource's event happened or began: sections are sorted by it, newest first. */
import type { Json } from '#src/shared/json.ts';
import { first, text } from '../../fhir/parts.ts';
import type { Source } from './source.ts';

/** Elements with that time, in order of preference. */
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

/** The members of resources that `happenedAt` reads. */
export const DATED_BY: readonly string[] = Object.values(DATES).flat();

/** Returns when a resource's event happened, in milliseconds since 1970; the smallest number if unknown. */
export function happenedAt({ type, value }: Source): number {
  for (const name of DATES[type] ?? []) {
    const element = value[name];
    if (element === undefined) continue;
    // Date.parse reads all of FHIR's dates except a leap second.
    const moment = Date.parse(text(element) ?? endOf(element) ?? '');
    if (!Number.isNaN(moment)) return moment;
  }
  return Number.NEGATIVE_INFINITY;
}

/** Returns a Period's start, or its end if it has no start. */
function endOf(period: Json): string | undefined {
  const { start, end } = first(period) ?? {};
  return text(start) ?? text(end);
}
