/** The date on which the event that a resource describes happened or began. */

import type { Source } from '#src/clinical/summary/source.ts';
import { first, text } from '#src/fhir/parts.ts';

/** A date as the record writes it, and as a number to sort by. */
export interface Dated {
  /** A FHIR date or date-time; null when the record has none. */
  readonly date: string | null;
  /** Milliseconds since 1970; the smallest number when there is no date. */
  readonly at: number;
}

/** Elements that hold the date, in order of preference. */
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

/** Returns the date of a resource. */
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

/** Returns the day of a date or date-time, as precise as it is: `2026-03`. */
export function dayOf(date: string): string {
  return date.slice(0, 10);
}

/** Milliseconds of a day. */
export const DAY = 86_400_000;

/** Returns the days between two moments given in milliseconds since 1970. */
export function daysBetween(from: number, to: number): number {
  return (to - from) / DAY;
}
