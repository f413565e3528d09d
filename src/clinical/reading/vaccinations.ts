/** Vaccinations: each vaccine once with its doses, those that weren't given apart. https://hl7.org/fhir/R4/immunization.html */
import { text } from '#src/fhir/parts.ts';
import { type Dated, happened, newestFirst } from './dates.ts';
import { findRevisions, type Revision } from './revisions.ts';
import { type Around, type Coded, readCodes, type Told } from './told.ts';

/** The facts of one Immunization. */
export interface Dose<Of extends Told = Told> {
  readonly told: Of;
  readonly name: string | undefined;
  readonly codes: readonly Coded[];
  /** False for one that wasn't given (`not-done`). */
  readonly isGiven: boolean;
  /** When, in words that aren't a date (`occurrenceString`). */
  readonly when: string | undefined;
  readonly dated: Dated;
  /** The changes by later versions. */
  readonly revisions: readonly Revision[];
}

/** A vaccine that was given, or wasn't. */
export interface Vaccination<Of extends Told = Told>
  extends Pick<Dose<Of>, 'name' | 'codes' | 'isGiven' | 'dated'> {
  /** The newest first. */
  readonly doses: readonly Dose<Of>[];
}

/** Reads an Immunization. */
export function readVaccination<Of extends Told>(told: Of, around: Around): Dose<Of> {
  const { name } = around;
  const { vaccineCode, status, occurrenceString } = told.value;
  return {
    told,
    name: name(vaccineCode),
    codes: readCodes(vaccineCode),
    isGiven: status === 'completed',
    when: text(occurrenceString),
    dated: happened(told),
    revisions: findRevisions(told, around),
  };
}

/** Joins the doses of a vaccine by its name. @returns the newest first */
export function joinVaccinations<Of extends Told>(doses: readonly Dose<Of>[]): Vaccination<Of>[] {
  const groups = new Map<string, Dose<Of>[]>();
  for (const dose of doses) {
    const key = `${dose.isGiven} ${dose.name?.trim().toLowerCase() ?? dose.told.id}`;
    if (groups.get(key)?.push(dose) === undefined) groups.set(key, [dose]);
  }
  return [...groups.values()]
    .flatMap((group) => {
      const sorted = group.sort((a, b) => newestFirst(a, b) || (a.told.id < b.told.id ? 1 : -1));
      const [newest] = sorted;
      if (newest === undefined) return [];
      const { name, codes, isGiven, dated } = newest;
      return [{ name, codes, isGiven, dated, doses: sorted }];
    })
    .sort(newestFirst);
}
