/** The lists of a reading: the current entries of each, the past ones, and what is said where there are none. */
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import type { LeftOut, ListName } from '#src/clinical/reading/reading.ts';
import type { Texts } from '../pages/texts.ts';
import type { Known } from './known.ts';
import {
  absenceLine,
  allergyLine,
  type KnownLine,
  type LinePlace,
  medicineLine,
  problemLine,
  vaccinationLine,
} from './known-lines.ts';

/** The lists, in the order of the page: those whose omission could do harm come first. */
export const LISTS = [
  ['allergies', 'health.allergies', 'health.noallergies'],
  ['medicines', 'health.medications', 'health.nomedications'],
  ['problems', 'health.problems', 'health.noproblems'],
  ['vaccinations', 'health.immunizations', 'health.noimmunizations'],
] as const;

/** The names of the lists, in that order. */
export const LIST_NAMES: readonly ListName[] = LISTS.map(([list]) => list);

/** The lines of a list: statements that there is none, the current entries, those that are only planned, and past ones. */
export interface SplitLines {
  readonly absent: readonly KnownLine[];
  readonly now: readonly KnownLine[];
  readonly planned: readonly KnownLine[];
  readonly past: readonly KnownLine[];
}

/** Returns the lines of a list. @param of the facts, or the notes of an AI */
export function splitLines(place: LinePlace, of: Known['facts'], list: ListName): SplitLines {
  const split = <T>(
    items: readonly T[],
    isPast: (item: T) => boolean,
    makeLine: (place: LinePlace, item: T) => KnownLine,
    isPlanned: (item: T) => boolean = () => false,
  ): SplitLines => ({
    absent: of.absences[list].map((absence) => absenceLine(place, absence)),
    now: items.filter((item) => !isPast(item) && !isPlanned(item)).map((item) => makeLine(place, item)),
    planned: items.filter(isPlanned).map((item) => makeLine(place, item)),
    past: items.filter(isPast).map((item) => makeLine(place, item)),
  });
  switch (list) {
    case 'allergies':
      return split(of.allergies, ({ isOver }) => isOver, allergyLine);
    case 'medicines':
      return split(
        of.medicines,
        ({ standing }) => standing === 'past',
        medicineLine,
        ({ standing }) => standing === 'planned',
      );
    case 'problems':
      return split(of.problems, ({ isOver }) => isOver, problemLine);
    case 'vaccinations':
      return split(of.vaccinations, () => false, vaccinationLine);
  }
}

/** Returns in words how many past entries a list has; vaccinations are never past. */
export function pastText(say: Texts, list: ListName, n: number): string {
  return list === 'vaccinations' ? '' : say(`past.${list}`, { n });
}

/** Returns the name of an entry that is in no list. */
export function leftOutName(
  say: Texts,
  { name }: Pick<Known, 'name'>,
  { told: { value, before = value } }: LeftOut<ClinicalEntry>,
): string {
  return name(before.code ?? before.vaccineCode ?? before.medicationCodeableConcept) ?? say('entry.unnamed');
}
