/**
 * Builds the lists of a clinical reading: for each list, the current entries, the past entries, and the text shown if there
 * are none.
 */
import type { ClinicalEntry } from '#queries/rest/clinical-entries.ts';
import type { LeftOut, LeftOutAs, ListName } from '#src/clinical/reading/reading.ts';
import { findWithdrawal } from '#src/clinical/reading/revisions.ts';
import type { Withdrawn } from '#src/clinical/reading/status.ts';
import type { Texts } from '../pages/texts.ts';
import type { Known } from './known.ts';
import {
  absenceLine,
  allergyLine,
  type KnownLine,
  type LinePlace,
  medicineLine,
  problemLine,
  sayStatements,
  vaccinationLine,
} from './known-lines.ts';
import { withdrawnText } from './revision-words.ts';

/** The lists, in page order. Lists whose omission could do harm come first. */
export const LISTS = [
  ['allergies', 'health.allergies', 'health.noallergies'],
  ['medicines', 'health.medications', 'health.nomedications'],
  ['problems', 'health.problems', 'health.noproblems'],
  ['vaccinations', 'health.immunizations', 'health.noimmunizations'],
] as const;

/** The names of the lists, in the same order. */
export const LIST_NAMES: readonly ListName[] = LISTS.map(([list]) => list);

/** The lines in a list: statements of absence, current entries, entries that are only planned, and past entries. */
export interface SplitLines {
  readonly absent: readonly KnownLine[];
  readonly now: readonly KnownLine[];
  readonly planned: readonly KnownLine[];
  readonly past: readonly KnownLine[];
}

/**
 * Returns the lines in a list.
 * @param of the facts, or an AI's notes
 */
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

/** Returns, in words, how many past entries a list has. Vaccinations are never past. */
export function pastText(say: Texts, list: ListName, n: number): string {
  return list === 'vaccinations' ? '' : say(`past.${list}`, { n });
}

/** Returns whether somebody said that an entry isn't true or never was. */
export function isWithdrawn(as: LeftOutAs): as is Withdrawn {
  return as === 'refuted' || as === 'entered in error';
}

/** An entry that was refuted or entered in error, in words. */
export interface WithdrawnLine {
  readonly entry: ClinicalEntry;
  readonly title: string;
  readonly as: Withdrawn;
  /** The entry's name, its status, since when it has had this status, and what the entry stated before. */
  readonly text: string;
  /** The instant at which the entry was withdrawn. */
  readonly since: string | undefined;
}

/** Returns the entries in a list that somebody withdrew. What they stated isn't true, but readers may still believe it. */
export function withdrawnLines(place: LinePlace, known: Known, list: ListName): WithdrawnLine[] {
  const { say } = place;
  return known.leftOut.flatMap((each): WithdrawnLine[] => {
    const { told: entry, as } = each;
    if (each.list !== list || !isWithdrawn(as)) return [];
    const withdrawal = findWithdrawal(entry);
    const title = leftOutName(say, known, each);
    const said = withdrawal === undefined ? [] : sayStatements(place, known.stated(entry, withdrawal.before));
    const others = said.filter((text) => text !== title);
    const state = withdrawnText(say, entry, as, withdrawal);
    const before = others.length === 0 ? '' : ` (${say('known.wasbefore', { text: say.list(others) })})`;
    return [{ entry, title, as, text: `${title}: ${state}${before}`, since: withdrawal?.at }];
  });
}

/** Returns the name of an entry that isn't in any list. */
export function leftOutName(
  say: Texts,
  { name }: Pick<Known, 'name'>,
  { told: { value, before = value } }: LeftOut<ClinicalEntry>,
): string {
  return name(before.code ?? before.vaccineCode ?? before.medicationCodeableConcept) ?? say('entry.unnamed');
}
