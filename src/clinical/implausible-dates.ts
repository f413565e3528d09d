/**
 * Finds dates in a resource that can't be true: dates in the future, before birth or after death, an age that nobody reaches,
 * and pairs of dates in the wrong order.
 */
import type { Implausible, ImplausibleCode } from '#src/shared/implausible.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';
import { type Micros, toInstant } from '#src/shared/time/time.ts';
import { parsePeriod } from '../fhir/search/period.ts';

/**
 * Elements that say when something happened, by type. These dates can't be in the future, unlike ends of periods, validity,
 * due dates, expiry dates, plans, and dates that are values.
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

/**
 * Elements that say when something was written down, by type; these are never in the future, whatever the resource's status
 * is.
 */
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

/** Statuses of events that haven't happened yet or never happened. */
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

/** An allowance, because clocks differ and a day may be written in another time zone. */
const TOLERANCE: Micros = 24 * 3_600 * 1_000_000;

/** A type's paths, as element names. */
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
 * Returns a fault for each date that is more than 24 hours later than a given time.
 * @param at when the resource is written
 */
export function futureDates(resource: JsonObject, type: string, at: Micros): Implausible[] {
  const found: Implausible[] = [];
  const paths = PATHS.get(type);
  if (paths === undefined) return found;
  for (const list of [paths.happened, paths.written])
    for (const names of list) {
      // Checked first, because most elements are absent.
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

/**
 * Returns whether a status allows dates in the future; it may be the status of a resource or of a part, such as an Encounter's
 * earlier statuses.
 */
function isAhead({ status }: JsonObject): boolean {
  return typeof status === 'string' && AHEAD.has(status);
}

/** The year that dates were last compared with, and when it begins and ends. */
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

/** A date as written, and its path: `Observation.effectivePeriod.start`. */
interface WrittenDate {
  readonly path: string;
  readonly text: string;
}

/**
 * Returns the dates at a path, in order.
 * @param names element names, starting from the resource; in lists, every entry is searched
 * @param isSkipped returns whether an object on the path is left out
 */
function datesAt(
  resource: JsonObject,
  type: string,
  names: readonly string[],
  isSkipped: (object: JsonObject) => boolean = () => false,
): WrittenDate[] {
  const found: WrittenDate[] = [];
  const visit = (value: Json | undefined, path: string, at: number): void => {
    if (value === undefined) return;
    if (Array.isArray(value)) {
      for (const [n, each] of value.entries()) visit(each, `${path}[${n}]`, at);
    } else if (at === names.length) {
      if (typeof value === 'string') found.push({ path, text: value });
    } else if (isObject(value) && !isSkipped(value)) {
      const name = names[at] ?? '';
      visit(value[name], `${path}.${name}`, at + 1);
    }
  };
  visit(resource, type, 0);
  return found;
}

/** Two elements whose order is fixed: the second must never precede the first. */
interface Order {
  readonly first: string;
  readonly next: string;
  readonly code: ImplausibleCode;
  /** The element that the message names. */
  readonly named: 'first' | 'next';
  readonly say: (first: string, next: string) => string;
}

const after = (first: string, next: string, words: string): Order => ({
  first,
  next,
  code: 'dates_out_of_order',
  named: 'next',
  say: (early, late) => `${late} is before ${words} (${early})`,
});

const NONE: readonly Implausible[] = [];

const ORDERS: Readonly<Record<string, readonly Order[]>> = {
  Patient: [
    {
      first: 'birthDate',
      next: 'deceasedDateTime',
      code: 'born_after_death',
      named: 'first',
      say: (born, died) => `${born} is after the date of death (${died})`,
    },
  ],
  Condition: [
    after('onsetDateTime', 'abatementDateTime', 'the onset'),
    after('onsetPeriod.start', 'abatementDateTime', 'the onset'),
    after('onsetDateTime', 'abatementPeriod.start', 'the onset'),
  ],
  AllergyIntolerance: [after('onsetDateTime', 'lastOccurrence', 'the onset')],
  Specimen: [after('collection.collectedDateTime', 'receivedTime', 'the collection')],
};

/** Returns a fault for each date in a resource that precedes a date that it must follow. */
export function misorderedDates(resource: JsonObject, type: string): readonly Implausible[] {
  const orders = ORDERS[type];
  if (orders === undefined) return NONE;
  return orders.flatMap(({ first, next, code, named, say }): Implausible[] => {
    const [early] = datesAt(resource, type, first.split('.'));
    const [late] = early === undefined ? [] : datesAt(resource, type, next.split('.'));
    if (early === undefined || late === undefined || !precedes(late.text, early.text)) return [];
    const { path } = named === 'first' ? early : late;
    return [{ code, element: path, message: say(early.text, late.text) }];
  });
}

const DAY = 'YYYY-MM-DD'.length;

/**
 * The maximum difference between a date without a time and the same date in UTC: time zones differ from UTC by at most 14
 * hours.
 */
const WIDEST_OFFSET: Micros = 14 * 3_600 * 1_000_000;

/**
 * Returns whether a date certainly precedes another. Days and months are compared as written, and date-times by their
 * instants. A day is compared with a date-time in every time zone that is possible for the day.
 */
function precedes(one: string, other: string): boolean {
  const [a, b] = [parsePeriod(one), parsePeriod(other)];
  if (a === undefined || b === undefined) return false;
  const [length, longest] = [Math.min(one.length, other.length), Math.max(one.length, other.length)];
  if (longest <= DAY) return one.slice(0, length) < other.slice(0, length);
  return a.to + (length <= DAY ? WIDEST_OFFSET : 0) <= b.from;
}

/** In years. The oldest person whose age is proven reached 122: J. Calment, 1875 to 1997. */
const OLDEST = 130;

/**
 * Returns a fault if a Patient's age, now or at death, is higher than people reach. A deceased Patient without a date of death
 * isn't checked.
 * @param at when the resource is written
 */
export function impossibleAge(resource: JsonObject, type: string, at: Micros): Implausible | undefined {
  if (type !== 'Patient') return undefined;
  const { birthDate: born, deceasedDateTime: died, deceasedBoolean } = resource;
  if (typeof born !== 'string' || deceasedBoolean === true) return undefined;
  const end = typeof died === 'string' ? died : toInstant(at);
  // Only years are compared, because at this age the day doesn't matter.
  const age = Number(end.slice(0, 4)) - Number(born.slice(0, 4));
  if (!(age > OLDEST)) return undefined;
  const until = typeof died === 'string' ? `the date of death (${died})` : 'now';
  return {
    code: 'implausible_age',
    element: 'Patient.birthDate',
    message: `${born} is more than ${OLDEST} years before ${until}`,
  };
}
