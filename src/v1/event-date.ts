/** When what a resource tells of happened, or began (docs/spec/decisions.md, section 4: the timeline). Pure. */
import type { JsonObject } from '#src/shared/json.ts';
import type { Micros } from '#src/shared/time.ts';
import { first, text } from '../fhir/ips/parts.ts';
import { parsePeriod } from '../fhir/search/period.ts';

/** Elements that tell it, the better ones first; a dot leads into an element. */
const DATES: Readonly<Record<string, readonly string[]>> = {
  AllergyIntolerance: ['onsetDateTime', 'onsetPeriod', 'lastOccurrence', 'recordedDate'],
  CarePlan: ['period', 'created'],
  Condition: ['onsetDateTime', 'onsetPeriod', 'recordedDate'],
  DiagnosticReport: ['effectiveDateTime', 'effectivePeriod', 'issued'],
  DocumentReference: ['content.attachment.creation', 'context.period', 'date'],
  Encounter: ['period'],
  Goal: ['startDate', 'statusDate'],
  Immunization: ['occurrenceDateTime', 'recorded'],
  MedicationStatement: ['effectiveDateTime', 'effectivePeriod', 'dateAsserted'],
  Observation: ['effectiveDateTime', 'effectiveInstant', 'effectivePeriod', 'issued'],
  Procedure: ['performedDateTime', 'performedPeriod'],
};

/** A moment as the resource writes it, and where it stands among others: its first microsecond, without an offset in UTC. */
export interface EventDate {
  readonly date: string;
  readonly at: Micros;
}

/** When it was; undefined when the resource does not say. A Period counts by its start, by its end where it has none. */
export function eventDateOf(type: string, resource: JsonObject): EventDate | undefined {
  for (const path of DATES[type] ?? []) {
    const date = dateAt(resource, path.split('.'));
    const period = date === undefined ? undefined : parsePeriod(date);
    if (date !== undefined && period !== undefined) return { date, at: period.from };
  }
  return undefined;
}

function dateAt(resource: JsonObject, [name = '', ...rest]: readonly string[]): string | undefined {
  const element = resource[name];
  if (rest.length > 0) return dateAt(first(element) ?? {}, rest);
  const { start, end } = first(element) ?? {};
  return text(element) ?? text(start) ?? text(end);
}
