/** Provides helpers that the parts of a context share. */

import { splitAbsences } from '#src/clinical/reading/absence.ts';
import { dateText } from '#src/clinical/reading/english.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { readPerson } from '#src/clinical/reading/person.ts';
import type { Around } from '#src/clinical/reading/told.ts';
import { readCodes } from '#src/clinical/reading/told.ts';

import { withDisplays } from '#src/clinical/summary/displays.ts';
import { containedIn, text } from '#src/fhir/parts.ts';
import type { Coverage } from '#src/shared/access/coverage.ts';
import type { Json } from '#src/shared/json/json.ts';
import { dayIn } from '#src/shared/time/day.ts';
import { daysBetween } from './dates.ts';
import type { Focus } from './guidance/focus.ts';
import type { Entry, OpenedRecord } from './record.ts';

/** A record, and the settings for generating a context from it. */
export interface Reading {
  readonly opened: OpenedRecord;
  /** The directory entries that the record refers to, by `Type/id`. */
  readonly directory: ReadonlyMap<string, Entry>;
  /** Names for codes without text, by `system|code`. */
  readonly displays: ReadonlyMap<string, string>;
  readonly focus: Focus;
  /** The day of the context, in milliseconds since 1970. */
  readonly today: number;
  readonly covered: Coverage;
}

/** Returns the resources of the given types, newest first, with names added to their codes. */
export function listEntries({ opened, displays }: Reading, ...types: readonly string[]): Entry[] {
  return types.flatMap((type) => opened.facts.get(type) ?? []).map((entry) => namedEntry(entry, displays));
}

/** Returns the same resources, except statements of absence. */
export function listStated(reading: Reading, ...types: readonly string[]): Entry[] {
  const { others } = splitAbsences(listEntries(reading, ...types), around(reading));
  return [...others];
}

/** Returns a resource with names added to its codes. */
export function namedEntry(entry: Entry, displays: Reading['displays']): Entry {
  return withDisplays(entry, displays);
}

/** Returns the resource in the record or the directory that a reference names. */
export function lookUp(
  { opened, directory, displays }: Reading,
  reference: Json | undefined,
): Entry | undefined {
  const [, type = '', id = ''] =
    /(?:^|\/)([A-Z]\w+)\/([0-9a-f-]{36})(?:$|\/_history)/.exec(text(reference) ?? '') ?? [];
  const found = opened.facts.get(type)?.find((entry) => entry.id === id) ?? directory.get(`${type}/${id}`);
  return found === undefined ? undefined : namedEntry(found, displays);
}

/** Returns the lookups that are needed to read entries. */
export function around(reading: Reading): Around {
  const {
    today,
    opened: { patient },
  } = reading;
  return {
    today: new Date(today).toISOString().slice(0, 10),
    died: patient === undefined ? undefined : readPerson(patient.value).died,
    look: (reference, within) => containedIn(within, reference) ?? lookUp(reading, reference)?.value,
    name: nameConcept,
  };
}

/** Returns the number of days since a resource's date; a very large number if the resource has no date. */
export function ageDays({ today }: Reading, { dated }: Entry): number {
  return daysBetween(dated.at, today);
}

/**
 * Returns the day of a resource's date. If only the day is known on which a result was made available, returns `reported …`.
 */
export function findDay({ dated }: Entry): string | undefined {
  return dated.means === 'reported' ? dateText(dated) : dated.date === null ? undefined : dayIn(dated.date);
}

/** Returns a concept's name, or `otherwise` if it has neither text nor codes. */
export function nameOr(value: Json | undefined, otherwise: string): string {
  return nameConcept(value) ?? otherwise;
}

/** Returns an item's members `code`, `system` and `display`. */
export function codeMembers(value: Json | undefined, name: string): { [key: string]: string | null } {
  const [first] = readCodes(value);
  return {
    code: first?.code ?? null,
    system: first === undefined || first.system === '' ? null : first.system,
    display: name,
  };
}
