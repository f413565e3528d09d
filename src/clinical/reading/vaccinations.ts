/**
 * Reads vaccinations: each vaccine appears once, with its doses; vaccines that weren't given are listed separately.
 * https://hl7.org/fhir/R4/immunization.html
 */
import { objects, text } from '#src/fhir/parts.ts';
import type { JsonObject } from '#src/shared/json/json-value.ts';
import { type Dated, happened, newestFirst } from './dates.ts';
import { findCodeWord, type WordLanguage } from './names/code-words.ts';
import { findConceptWord } from './names/concept-word.ts';
import { nameConcept } from './names/name.ts';
import { findRevisions, type Revision } from './revisions.ts';
import { type Around, type Coded, readCodes, type Told } from './told.ts';

/** A single Immunization's statement. */
export interface Dose<Of extends Told = Told> {
  readonly told: Of;
  readonly name: string | undefined;
  readonly codes: readonly Coded[];
  /** False if the vaccine wasn't given (`not-done`). */
  readonly isGiven: boolean;
  /** When the vaccine was given, in words rather than as a date (`occurrenceString`). */
  readonly when: string | undefined;
  readonly dated: Dated;
  /** Changes made by later versions. */
  readonly revisions: readonly Revision[];
}

/** A vaccine that was or wasn't given. */
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

/**
 * Joins a vaccine's doses by its name. Entries that it wasn't given are joined if they have the same reason.
 * @returns newest first
 */
export function joinVaccinations<Of extends Told>(doses: readonly Dose<Of>[]): Vaccination<Of>[] {
  const groups = new Map<string, Dose<Of>[]>();
  for (const dose of doses) {
    const why = dose.isGiven ? undefined : JSON.stringify(dose.told.value.statusReason);
    const key = `${dose.isGiven} ${why} ${dose.name?.trim().toLowerCase() ?? dose.told.id}`;
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

/**
 * Returns, in words, that a dose was too weak to count, and why: `subpotent: partial dose`; undefined for any other dose.
 * https://hl7.org/fhir/R4/immunization-definitions.html#Immunization.isSubpotent
 */
export function subpotentText(
  { isSubpotent, subpotentReason }: JsonObject,
  lang: WordLanguage,
  name: Around['name'] = nameConcept,
): string | undefined {
  if (isSubpotent !== true && (isSubpotent === false || subpotentReason === undefined)) return undefined;
  const word = findCodeWord(lang, 'subpotent', 'subpotent') ?? 'subpotent';
  const reasons = objects(subpotentReason).flatMap(
    (each) => findConceptWord(lang, each, 'subpotent') ?? name(each) ?? [],
  );
  return reasons.length === 0 ? word : `${word}: ${reasons.join(', ')}`;
}
