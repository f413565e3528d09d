/** When what a resource tells of happened, or began. */
import { first, text } from '#src/fhir/ips/parts.ts';
import type { Source } from '#src/fhir/ips/source.ts';

/** A moment as the record says it, and where it stands in time. */
export interface Dated {
  /** A FHIR date or date-time; null when the record does not say. */
  readonly date: string | null;
  /** Milliseconds since 1970; before all others when it is not known. */
  readonly at: number;
}

/** Elements that tell it, the better ones first. */
const ELEMENTS: Readonly<Record<string, readonly string[]>> = {
  Patient: ['birthDate'],
  Condition: ['onsetDateTime', 'onsetPeriod', 'recordedDate'],
  AllergyIntolerance: ['onsetDateTime', 'onsetPeriod', 'recordedDate', 'lastOccurrence'],
  MedicationStatement: ['effectiveDateTime', 'effectivePeriod', 'dateAsserted'],
  MedicationRequest: ['authoredOn'],
  Observation: ['effectiveDateTime', 'effectiveInstant', 'effectivePeriod', 'issued'],
  DiagnosticReport: ['effectiveDateTime', 'effectivePeriod', 'issued'],
  Procedure: ['performedDateTime', 'performedPeriod'],
  Encounter: ['period'],
  CarePlan: ['period', 'created'],
  Goal: ['startDate'],
  CareTeam: ['period'],
  Immunization: ['occurrenceDateTime', 'recorded'],
  DocumentReference: ['date'],
};

/** Reads it. */
export function datedOf({ type, value }: Pick<Source, 'type' | 'value'>): Dated {
  for (const name of ELEMENTS[type] ?? []) {
    const element = value[name];
    if (element === undefined) continue;
    const { start, end } = first(element) ?? {};
    const date = text(element) ?? text(start) ?? text(end);
    if (date === undefined) continue;
    const at = Date.parse(date);
    if (!Number.isNaN(at)) return { date, at };
  }
  return { date: null, at: Number.NEGATIVE_INFINITY };
}

/** The day of a date or date-time, as far as it says one: `2026-03`. */
export function dayOf(date: string): string {
  return date.slice(0, 10);
}

/** A day, in milliseconds. */
export const DAY = 86_400_000;

/** Days from a moment to another, in milliseconds since 1970. */
export function daysBetween(from: number, to: number): number {
  return (to - from) / DAY;
}
