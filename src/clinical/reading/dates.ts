/**
 * Reads a record's dates, each with its meaning: the day on which a medicine was prescribed isn't the day on which it was
 * started or stopped, and the day on which something was recorded isn't the day on which it happened.
 */
import { first, text } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';

/** The possible meanings of a date. `recorded` is when something was written down, not when it happened. */
export const MEANINGS = [
  'born',
  'onset',
  'last_reaction',
  'taken',
  'prescribed',
  'measured',
  'reported',
  'performed',
  'given',
  'visited',
  'planned',
  'written',
  'recorded',
] as const;

/** The meaning of a date. */
export type Meaning = (typeof MEANINGS)[number];

/** A date as written in the record, a number to sort by, and its meaning. */
export interface Dated {
  /** A FHIR date or date-time with its own precision; null if the record has none. */
  readonly date: string | null;
  /** Milliseconds since 1970; the smallest number if there is no date. */
  readonly at: number;
  readonly means: Meaning;
}

/** An element and the meaning of its date; a dot in the path separates nested elements. */
type Element = readonly [path: string, means: Meaning];

/** Elements that say when a resource's event happened or began, in order of preference. */
const HAPPENED: Readonly<Record<string, readonly Element[]>> = {
  Patient: [['birthDate', 'born']],
  Condition: [
    ['onsetDateTime', 'onset'],
    ['onsetPeriod', 'onset'],
    ['recordedDate', 'recorded'],
  ],
  AllergyIntolerance: [
    ['onsetDateTime', 'onset'],
    ['onsetPeriod', 'onset'],
    ['lastOccurrence', 'last_reaction'],
    ['recordedDate', 'recorded'],
  ],
  MedicationStatement: [
    ['effectiveDateTime', 'taken'],
    ['effectivePeriod', 'taken'],
    ['dateAsserted', 'recorded'],
  ],
  MedicationRequest: [['authoredOn', 'prescribed']],
  Observation: [
    ['effectiveDateTime', 'measured'],
    ['effectiveInstant', 'measured'],
    ['effectivePeriod', 'measured'],
    ['issued', 'reported'],
  ],
  DiagnosticReport: [
    ['effectiveDateTime', 'measured'],
    ['effectivePeriod', 'measured'],
    ['issued', 'reported'],
  ],
  Procedure: [
    ['performedDateTime', 'performed'],
    ['performedPeriod', 'performed'],
  ],
  Encounter: [['period', 'visited']],
  CarePlan: [
    ['period', 'planned'],
    ['created', 'written'],
  ],
  Goal: [
    ['startDate', 'planned'],
    ['statusDate', 'recorded'],
  ],
  CareTeam: [['period', 'planned']],
  Immunization: [
    ['occurrenceDateTime', 'given'],
    ['recorded', 'recorded'],
  ],
  DocumentReference: [
    ['content.attachment.creation', 'written'],
    ['context.period', 'performed'],
    ['date', 'recorded'],
  ],
};

/** The same elements, with each path split into element names. */
const ELEMENTS: ReadonlyMap<
  string,
  readonly { readonly name: string; readonly rest: readonly string[]; readonly means: Meaning }[]
> = new Map(
  Object.entries(HAPPENED).map(([type, elements]) => [
    type,
    elements.map(([path, means]) => {
      const [name = '', ...rest] = path.split('.');
      return { name, rest, means };
    }),
  ]),
);

/** The members of resources that `happened` reads dates from. */
export const DATED_BY: readonly string[] = [
  ...new Set(
    Object.values(HAPPENED).flatMap((elements) => elements.map(([path]) => path.split('.')[0] ?? '')),
  ),
];

/**
 * Returns when a resource's event happened or began; if that is unknown, when it was recorded. For a Period, the start is
 * used.
 */
export function happened({ type, value }: { readonly type: string; readonly value: JsonObject }): Dated {
  for (const { name, rest, means } of ELEMENTS.get(type) ?? []) {
    const element = value[name];
    if (element === undefined) continue;
    const date = rest.length === 0 ? dateIn(element) : dateAt(first(element) ?? {}, rest);
    if (date === undefined) continue;
    const at = readMoment(date);
    if (!Number.isNaN(at)) return { date, at, means };
  }
  return { date: null, at: Number.NEGATIVE_INFINITY, means: 'recorded' };
}

/** Returns milliseconds since 1970. Date.parse reads all FHIR dates except dates with a leap second. */
function readMoment(date: string): number {
  const at = Date.parse(date);
  return Number.isNaN(at) ? Date.parse(date.replace(/:60(?=[.+Z-])/, ':59')) : at;
}

function dateAt(value: JsonObject, [name = '', ...rest]: readonly string[]): string | undefined {
  return rest.length === 0 ? dateIn(value[name]) : dateAt(first(value[name]) ?? {}, rest);
}

/** Returns a date, a Period's start, or a Period's end if it has no start. */
function dateIn(value: Json | undefined): string | undefined {
  if (value === undefined) return undefined;
  const { start, end } = first(value) ?? {};
  return text(value) ?? text(start) ?? text(end);
}

/** Compares by date, newest first. Entries come last if they have no date or only the date of recording. */
export function newestFirst(a: { readonly dated: Dated }, b: { readonly dated: Dated }): number {
  const [own, other] = [isOwn(a.dated), isOwn(b.dated)];
  if (own !== other) return own ? -1 : 1;
  return a.dated.at === b.dated.at ? 0 : b.dated.at - a.dated.at;
}

function isOwn({ date, means }: Dated): boolean {
  return date !== null && means !== 'recorded';
}

/**
 * Returns whether a date is entirely before a given day; the date may be a year, a month or a day.
 * @param today `YYYY-MM-DD`
 */
export function isPast(date: string, today: string): boolean {
  const day = date.slice(0, 10);
  return day < today.slice(0, day.length);
}

/**
 * Returns whether a date is entirely after a given day; the date may be a year, a month or a day.
 * @param today `YYYY-MM-DD`
 */
export function isFuture(date: string, today: string): boolean {
  const day = date.slice(0, 10);
  return day > today.slice(0, day.length);
}

/** Returns the last day that a date may mean, `YYYY-MM-DD`: a month gets day `31`, a year gets `12-31`. */
export function findLastDay(date: string): string {
  return `${date}${'9999-12-31'.slice(date.length)}`.slice(0, 10);
}
