/**
 * The date on which the event that a resource describes happened or began (docs/spec/decisions.md, section 4: the
 * timeline). Pure.
 */
import type { JsonObject } from '#src/shared/json.ts';
import type { Micros } from '#src/shared/time.ts';
import { type Days, readDays } from '../clinical/reading/day.ts';
import { first, text } from '../fhir/parts.ts';
import { parsePeriod } from '../fhir/search/period.ts';

/** Elements that hold the date, in order of preference; a dot leads into an element. */
const DATES: Readonly<Record<string, readonly string[]>> = {
  AllergyIntolerance: ['onsetDateTime', 'onsetPeriod', 'lastOccurrence', 'recordedDate'],
  CarePlan: ['period', 'created'],
  Condition: ['onsetDateTime', 'onsetPeriod', 'recordedDate'],
  DiagnosticReport: ['effectiveDateTime', 'effectivePeriod', 'issued'],
  DocumentReference: ['content.attachment.creation', 'context.period', 'date'],
  Encounter: ['period'],
  Goal: ['startDate', 'statusDate'],
  Immunization: ['occurrenceDateTime', 'recorded'],
  MedicationRequest: ['authoredOn'],
  MedicationStatement: ['effectiveDateTime', 'effectivePeriod', 'dateAsserted'],
  Observation: ['effectiveDateTime', 'effectiveInstant', 'effectivePeriod', 'issued'],
  Procedure: ['performedDateTime', 'performedPeriod'],
};

/** A date as the resource writes it, and its first microsecond for sorting; without an offset it is read as UTC. */
export interface EventDate {
  readonly date: string;
  readonly at: Micros;
  /** The days that it is written for. */
  readonly days: Days;
}

/** Returns the date of a resource, or undefined. A Period counts by its start, or its end if it has no start. */
export function eventDateOf(type: string, resource: JsonObject): EventDate | undefined {
  for (const path of DATES[type] ?? []) {
    const date = dateAt(resource, path.split('.'));
    const period = date === undefined ? undefined : parsePeriod(date);
    if (date !== undefined && period !== undefined) return { date, at: period.from, days: readDays(date) };
  }
  return undefined;
}

function dateAt(resource: JsonObject, [name = '', ...rest]: readonly string[]): string | undefined {
  const element = resource[name];
  if (rest.length > 0) return dateAt(first(element) ?? {}, rest);
  const { start, end } = first(element) ?? {};
  return text(element) ?? text(start) ?? text(end);
}
