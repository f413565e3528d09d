/** When what a resource tells of happened, or began: sections are sorted by it, newest first. */
import { parsePeriod } from '#src/fhir/search/period.ts';
import type { JsonObject } from '#src/shared/json.ts';
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

/** Microseconds since 1970; before all dates when it is not known. */
export function happenedAt({ type, value }: Source): number {
  for (const name of DATES[type] ?? []) {
    const moment = parsePeriod(text(value[name]) ?? endOf(value, name) ?? '');
    if (moment !== undefined) return moment.from;
  }
  return Number.NEGATIVE_INFINITY;
}

function endOf(value: JsonObject, name: string): string | undefined {
  const { start, end } = first(value[name]) ?? {};
  return text(start) ?? text(end);
}
