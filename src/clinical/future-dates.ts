/** Finds dates that lie in the future where an element says what has happened. */
import type { Implausible } from '#src/shared/implausible.ts';
import type { JsonObject } from '#src/shared/json.ts';
import { type Micros, toInstant } from '#src/shared/time.ts';
import { parsePeriod } from '../fhir/search/period.ts';
import { datesAt } from './element-dates.ts';

/**
 * Elements that say when something happened, by type. Ends of periods, validity, due dates, expiry and what is planned
 * may lie in the future, and so may dates that are a value.
 */
export const HAPPENED: Readonly<Record<string, readonly string[]>> = {
  Patient: ['birthDate', 'deceasedDateTime'],
  Observation: ['effectiveDateTime', 'effectiveInstant', 'effectivePeriod.start', 'effectiveTiming.event'],
  Condition: ['onsetDateTime', 'onsetPeriod.start', 'abatementDateTime', 'abatementPeriod.start'],
  MedicationStatement: ['effectiveDateTime', 'effectivePeriod.start'],
  AllergyIntolerance: ['onsetDateTime', 'onsetPeriod.start', 'lastOccurrence', 'reaction.onset'],
  Immunization: ['occurrenceDateTime', 'reaction.date'],
  Procedure: ['performedDateTime', 'performedPeriod.start'],
  Encounter: ['period.start', 'statusHistory.period.start', 'classHistory.period.start'],
  DiagnosticReport: ['effectiveDateTime', 'effectivePeriod.start'],
  Specimen: [
    'receivedTime',
    'collection.collectedDateTime',
    'collection.collectedPeriod.start',
    'processing.timeDateTime',
    'processing.timePeriod.start',
  ],
  DocumentReference: ['context.period.start'],
  RelatedPerson: ['birthDate'],
  Device: ['manufactureDate'],
  Provenance: ['occurredDateTime', 'occurredPeriod.start'],
  Practitioner: ['birthDate'],
};

/** Elements that say when something was written down, by type: never in the future, whatever the status. */
export const WRITTEN: Readonly<Record<string, readonly string[]>> = {
  Patient: ['photo.creation'],
  Observation: ['issued', 'note.time'],
  Condition: ['recordedDate', 'note.time'],
  MedicationStatement: ['dateAsserted', 'note.time'],
  MedicationRequest: ['authoredOn', 'note.time'],
  AllergyIntolerance: ['recordedDate', 'note.time', 'reaction.note.time'],
  Immunization: ['recorded', 'education.publicationDate', 'education.presentationDate', 'note.time'],
  Procedure: ['note.time'],
  DiagnosticReport: ['issued', 'presentedForm.creation'],
  Specimen: ['note.time'],
  DocumentReference: ['date', 'content.attachment.creation'],
  CarePlan: ['created', 'activity.progress.time', 'note.time'],
  CareTeam: ['note.time'],
  Goal: ['statusDate', 'note.time'],
  RelatedPerson: ['photo.creation'],
  Device: ['note.time'],
  Provenance: ['recorded', 'signature.when'],
  Practitioner: ['photo.creation'],
};

/** Statuses of what hasn't happened yet, or didn't. */
const AHEAD = new Set([
  'cancelled',
  'draft',
  'intended',
  'not-done',
  'not-taken',
  'on-hold',
  'planned',
  'preparation',
  'registered',
]);

/** Clocks differ, and days are written in other time zones. */
const TOLERANCE: Micros = 24 * 3_600 * 1_000_000;

/** The paths of a type, as element names. */
interface Paths {
  readonly happened: readonly (readonly string[])[];
  readonly written: readonly (readonly string[])[];
}

const split = (paths: readonly string[] = []) => paths.map((path) => path.split('.'));
const PATHS: ReadonlyMap<string, Paths> = new Map(
  [...new Set([...Object.keys(HAPPENED), ...Object.keys(WRITTEN)])].map((type) => [
    type,
    { happened: split(HAPPENED[type]), written: split(WRITTEN[type]) },
  ]),
);

/**
 * Returns a fault for each date that lies more than 24 hours after a moment.
 * @param at when the resource is written
 */
export function futureDates(resource: JsonObject, type: string, at: Micros): Implausible[] {
  const found: Implausible[] = [];
  const paths = PATHS.get(type);
  if (paths === undefined) return found;
  for (const list of [paths.happened, paths.written])
    for (const names of list) {
      // Most elements are absent.
      if (resource[names[0] ?? ''] === undefined) continue;
      for (const { path, text } of datesAt(
        resource,
        type,
        names,
        list === paths.happened ? isAhead : undefined,
      ))
        if (isFuture(text, at))
          found.push({ code: 'future_date', element: path, message: `${text} is in the future` });
    }
  return found;
}

/** Tells whether the status of a resource, or of a part such as an Encounter's earlier statuses, lets its dates lie ahead. */
function isAhead({ status }: JsonObject): boolean {
  return typeof status === 'string' && AHEAD.has(status);
}

/** The last year in which dates were compared with a moment, and where it begins and ends. */
let year = { text: '', from: 0, to: 0 };

function isFuture(text: string, at: Micros): boolean {
  if (at < year.from || at >= year.to) {
    const now = toInstant(at).slice(0, 4);
    const { from = 0, to = 0 } = parsePeriod(now) ?? {};
    year = { text: now, from, to };
  }
  // Dates of earlier years need no parsing.
  if (text.slice(0, 4) < year.text) return false;
  const from = parsePeriod(text)?.from;
  return from !== undefined && from > at + TOLERANCE;
}
