/**
 * The clinical reading of a record: the person, allergies, medicines, problems and vaccinations. Every view shows this
 * reading, and no view interprets resources by itself (docs/clinical-reading.md). Pure.
 */
import type { JsonObject } from '#src/shared/json/json.ts';
import {
  type Absence,
  activeAllergies,
  activeProblems,
  contradictAbsences,
  givenVaccines,
  type SplitEntries,
  splitAbsences,
  takenMedicines,
} from './absence.ts';
import { type Allergy, mostDangerousFirst, readAllergy } from './allergies.ts';
import { isMedicine } from './medicine-subject.ts';
import { joinMedicines, type Medicine, readMedicineSource } from './medicines.ts';
import { type Person, readPerson } from './person.ts';
import { joinProblems, type Problem, readProblemSource } from './problems.ts';
import { hasModifier, type Withdrawn, withdrawnAs } from './status.ts';
import type { Around, PartOfAi, Told } from './told.ts';
import { joinVaccinations, readVaccination, type Vaccination } from './vaccinations.ts';

/** A resource, an AI's part in its current version, and the last previous version that someone else wrote. */
export interface Entry extends Told {
  readonly partOfAi: PartOfAi;
}

/** Lists of a reading. */
export type ListName = 'allergies' | 'medicines' | 'problems' | 'vaccinations';

/** The known facts, grouped by list. */
export interface Statements<Of extends Told> {
  readonly allergies: readonly Allergy<Of>[];
  readonly medicines: readonly Medicine<Of>[];
  readonly problems: readonly Problem<Of>[];
  readonly vaccinations: readonly Vaccination<Of>[];
  /** Statements of absence, which aren't in any of the lists. */
  readonly absences: Readonly<Record<ListName, readonly Absence<Of>[]>>;
}

/** The reason why a resource is in no list. */
export type LeftOutAs = Withdrawn | 'withdrawn by an AI' | 'modified' | 'too large';

/** A resource that can't be interpreted or that states nothing. */
export interface LeftOut<Of extends Told> {
  readonly told: Of;
  readonly list: ListName;
  readonly as: LeftOutAs;
}

/** The clinical reading of a record. */
export interface ClinicalReading<Of extends Told> {
  readonly person: Person;
  /** Statements by people, devices and imports. */
  readonly facts: Statements<Of>;
  /** Statements that an AI wrote and nobody confirmed; they are never among the facts. */
  readonly notes: Statements<Of>;
  readonly leftOut: readonly LeftOut<Of>[];
}

const LIST_OF: ReadonlyMap<string, ListName> = new Map([
  ['AllergyIntolerance', 'allergies'],
  ['MedicationStatement', 'medicines'],
  ['MedicationRequest', 'medicines'],
  ['Condition', 'problems'],
  ['Immunization', 'vaccinations'],
]);

/** The types that a reading uses in addition to Patient. */
export const READ_TYPES = [...LIST_OF.keys()];

/**
 * Reads a record.
 * @param entries current versions; types that aren't in `READ_TYPES` are skipped
 */
export function readRecord<Of extends Entry>(
  patient: JsonObject,
  entries: readonly Of[],
  around: Around,
): ClinicalReading<Of> {
  const person = readPerson(patient);
  const beside = { ...around, died: person.died };
  const leftOut: LeftOut<Of>[] = [];
  const [facts, notes]: [Of[], Of[]] = [[], []];
  for (const told of entries) {
    const list = LIST_OF.get(told.type);
    if (list === undefined) continue;
    const as = leftOutAs(told);
    if (as !== undefined) leftOut.push({ told, list, as });
    else (told.partOfAi === 'no' ? facts : notes).push(told);
  }
  return {
    person,
    facts: sortIntoLists(facts, beside),
    notes: sortIntoLists(notes, beside),
    leftOut,
  };
}

function leftOutAs({ value, partOfAi }: Entry): LeftOutAs | undefined {
  if (hasModifier(value)) return 'modified';
  const withdrawn = withdrawnAs(value);
  if (withdrawn === undefined) return undefined;
  // An AI's statement isn't a fact, so an entry that an AI marked as withdrawn may still be true (docs/spec/interface.md,
  // section 2.5).
  return partOfAi === 'changed' ? 'withdrawn by an AI' : withdrawn;
}

function sortIntoLists<Of extends Told>(all: readonly Of[], around: Around): Statements<Of> {
  const split = (list: ListName): SplitEntries<Of> =>
    splitAbsences(
      all.filter(({ type }) => LIST_OF.get(type) === list),
      around,
    );
  const [allergic, taken, ill, given] = [
    split('allergies'),
    split('medicines'),
    split('problems'),
    split('vaccinations'),
  ];
  const allergies = allergic.others.map((told) => readAllergy(told, around)).sort(mostDangerousFirst);
  const medicines = joinMedicines(
    taken.others.filter(({ value }) => isMedicine(value)).map((told) => readMedicineSource(told, around)),
  );
  const problems = joinProblems(ill.others.map((told) => readProblemSource(told, around)));
  const vaccinations = joinVaccinations(given.others.map((told) => readVaccination(told, around)));
  return {
    allergies,
    medicines,
    problems,
    vaccinations,
    absences: {
      allergies: contradictAbsences(allergic.absences, activeAllergies(allergies)),
      medicines: contradictAbsences(taken.absences, takenMedicines(medicines)),
      problems: contradictAbsences(ill.absences, activeProblems(problems)),
      vaccinations: contradictAbsences(given.absences, givenVaccines(vaccinations)),
    },
  };
}
