/** Collects the facts that every task needs: sex and age, allergies, medications, problems. */

import {
  type Absence,
  activeAllergies,
  activeProblems,
  contradictAbsences,
  type Denial,
  givenVaccines,
  splitAbsences,
  takenMedicines,
} from '#src/clinical/reading/absence.ts';
import { mostDangerousFirst, reactionCause, readAllergy } from '#src/clinical/reading/allergies.ts';
import {
  absenceText,
  doseChangeText,
  inEnglish,
  problemState,
  revisionText,
  standingText,
  stateWord,
} from '#src/clinical/reading/english.ts';
import { isMedicine } from '#src/clinical/reading/medicine-subject.ts';
import { joinMedicines, type Medicine, readMedicineSource } from '#src/clinical/reading/medicines.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { nameCodes } from '#src/clinical/reading/names/name-code.ts';
import { readPerson } from '#src/clinical/reading/person.ts';
import {
  allergyPhrases,
  dosePhrases,
  type Phrase,
  problemPhrases,
  repeatPhrases,
  substitutionPhrases,
} from '#src/clinical/reading/phrases.ts';
import { joinProblems, type Problem, readProblemSource } from '#src/clinical/reading/problems.ts';
import type { Revision } from '#src/clinical/reading/revisions.ts';
import { readCodes } from '#src/clinical/reading/told.ts';
import { readVaccination } from '#src/clinical/reading/vaccinations.ts';
import { choice, dosage, notes } from '#src/clinical/reading/words.ts';
import { objects, text } from '#src/fhir/parts.ts';
import type { JsonObject } from '#src/shared/json/json.ts';
import { dayIn } from '#src/shared/time/day.ts';
import { daysBetween } from './dates.ts';
import { type Fact, inLine, line, wholeLine } from './fact.ts';
import { BASE, type Base, type Coded, raiseForRequest } from './guidance/scores.ts';
import { ageDays, around, codeMembers, listEntries, listStated, type Reading } from './reading.ts';
import type { Entry } from './record.ts';

/** Returns sex, age and whether the patient has died. Name and address are left out because no task needs them. */
export function patient({ opened, today }: Reading): Fact[] {
  const { patient: entry } = opened;
  if (entry === undefined) return [];
  const { gender, born, died } = readPerson(entry.value);
  const until = died === undefined ? today : died.date === undefined ? undefined : Date.parse(died.date);
  const age = born === undefined || until === undefined ? undefined : ageOn(born, until);
  const said = line(
    ', ',
    gender ?? 'sex not recorded',
    age === undefined ? undefined : `${age} (born ${born})`,
    age === undefined && born !== undefined ? `born ${born}` : undefined,
    died === undefined ? undefined : died.date === undefined ? 'deceased' : `died ${dayIn(died.date)}`,
  );
  const members = { gender: gender ?? null, birth_date: born ?? null, deceased: died !== undefined };
  return [{ kind: 'patient', text: said, entry, also: [], codes: [], score: BASE.patient.general, members }];
}

/** Returns the age in years, or in months below the age of two. */
function ageOn(birth: string, at: number): string | undefined {
  const born = new Date(birth);
  const then = new Date(at);
  if (Number.isNaN(born.getTime()) || Number.isNaN(then.getTime())) return undefined;
  const months =
    (then.getUTCFullYear() - born.getUTCFullYear()) * 12 +
    (then.getUTCMonth() - born.getUTCMonth()) -
    (then.getUTCDate() < born.getUTCDate() ? 1 : 0);
  return months < 24 ? `${Math.max(months, 0)} months` : `${Math.floor(months / 12)} years`;
}

/**
 * Returns the allergies that are still active, the most critical first.
 * @param isShown returns whether an allergy is returned even though it has ended
 */
export function allergies(reading: Reading, isShown: (entry: Entry) => boolean = () => false): Fact[] {
  const beside = around(reading);
  return listStated(reading, 'AllergyIntolerance')
    .map((entry) => readAllergy(entry, beside))
    .filter(({ isOver, told }) => !isOver || isShown(told))
    .sort(mostDangerousFirst)
    .map((allergy, place) => {
      const {
        told: entry,
        name = 'substance not recorded',
        isCritical,
        isOver,
        status,
        uncertainty,
      } = allergy;
      const { value } = entry;
      const reactions = objects(value.reaction).map((each) => {
        const cause = reactionCause(each, nameConcept, name);
        return wholeLine(
          ' ',
          nameConcept(each.manifestation),
          cause === undefined ? undefined : `after ${cause}`,
          text(each.severity) === undefined ? undefined : `(${text(each.severity)})`,
        );
      });
      const said = wholeLine(
        '; ',
        reactions.length === 0 ? name : `${name}: ${reactions.join(', ')}`,
        isCritical ? 'high criticality' : undefined,
        isOver ? nameCodes('en', 'clinicalStatus', status) : undefined,
        nameCodes('en', 'verificationStatus', uncertainty),
        ...allergyPhrases(allergy).map(inEnglish),
        ...changes(allergy),
        noteIn(value),
      );
      const members = { ...codeMembers(value.code, name), criticality: text(value.criticality) ?? null };
      return {
        ...makeFact(reading, 'allergies', 'allergies', entry, said, members, value.code),
        isNeeded: !isOver,
        place,
      };
    });
}

/** Returns what later versions changed. */
function changes({ revisions }: { readonly revisions: readonly Revision[] }): string[] {
  return [...new Set(revisions.map(revisionText))];
}

/** Returns the medicines; each medicine appears once. */
export function medicinesIn(reading: Reading): Medicine<Entry>[] {
  const beside = around(reading);
  return joinMedicines(
    listStated(reading, 'MedicationStatement', 'MedicationRequest')
      .filter(({ value }) => isMedicine(value))
      .map((entry) => readMedicineSource(entry, beside)),
  );
}

/** The name shown for a medicine that has no name. */
export const NAMELESS = 'medication without a name';

/** Returns medicines as facts. */
export function medications(reading: Reading, medicines: readonly Medicine<Entry>[]): Fact[] {
  const { died } = around(reading);
  return medicines.map((medicine) => {
    const {
      name = NAMELESS,
      codes: coded,
      standing,
      lead,
      sources,
      from,
      until,
      takenOn,
      prescribed,
    } = medicine;
    const doses = medicine.doses.map((dose) => {
      const apart = dosePhrases(dose, medicine).map(inEnglish);
      const said = wholeLine(' ', dosage(dose.dosage), apart.length === 0 ? '' : `(${apart.join(', ')})`);
      const isNamed = dose.name === undefined || dose.name.toLowerCase() === name.toLowerCase();
      return isNamed ? said : `${dose.name} ${said}`;
    });
    const dose = doses.length === 0 ? undefined : doses.join(' | ');
    const reason = medicine.reasons.length === 0 ? undefined : medicine.reasons.join(', ');
    const said = wholeLine(
      '; ',
      dose === undefined ? name : `${name}: ${dose}`,
      standingText(medicine, died),
      ...substitutionPhrases(medicine).map(inEnglish),
      ...(standing === 'past' ? [] : changes(medicine)),
      doseChangeText(medicine),
      reading.focus.work === 'review' && reason !== undefined && standing !== 'forbidden'
        ? `for ${reason}`
        : undefined,
      joinMedicineNotes(sources.filter((source) => source.standing === standing)),
    );
    const [code] = coded;
    const members = {
      code: code?.code ?? null,
      system: code === undefined || code.system === '' ? null : code.system,
      display: name,
      status: stateWord(medicine, died),
      dosage: dose ?? null,
      start: from ?? takenOn ?? null,
      end: until ?? null,
      prescribed: prescribed === undefined ? null : { ...prescribed },
      reason: reason ?? null,
    };
    const isPast = standing === 'past';
    const base = isPast ? 'pastMedications' : 'medications';
    const fact = makeFact(reading, 'medications', base, lead.told, said, members, undefined, coded);
    const also = sources.flatMap((source) => (source === lead ? [] : [source.told]));
    return { ...fact, also, isNeeded: !isPast };
  });
}

/** The types whose entries may be statements of absence, by section. */
const ABSENT_IN = {
  allergies: ['AllergyIntolerance'],
  medications: ['MedicationStatement', 'MedicationRequest'],
  problems: ['Condition'],
  immunizations: ['Immunization'],
} as const;

/** Statements that the patient has no allergy, medicine, problem or vaccination, by section. */
export type Absences = Readonly<Record<keyof typeof ABSENT_IN, readonly Absence<Entry>[]>>;

/** Returns statements of absence, with the entries that contradict them. */
export function absencesIn(reading: Reading, medicines: readonly Medicine<Entry>[]): Absences {
  const beside = around(reading);
  const read = (
    kind: keyof typeof ABSENT_IN,
    listCurrent: (others: readonly Entry[]) => readonly Denial[],
  ): readonly Absence<Entry>[] => {
    const { absences, others } = splitAbsences(listEntries(reading, ...ABSENT_IN[kind]), beside);
    return absences.length === 0 ? [] : contradictAbsences(absences, listCurrent(others));
  };
  return {
    allergies: read('allergies', (others) =>
      activeAllergies(others.map((entry) => readAllergy(entry, beside))),
    ),
    medications: read('medications', () => takenMedicines(medicines)),
    problems: read('problems', (others) =>
      activeProblems(others.map((entry) => readProblemSource(entry, beside))),
    ),
    immunizations: read('immunizations', (others) =>
      givenVaccines(others.map((entry) => readVaccination(entry, beside))),
    ),
  };
}

/** Returns statements of absence as facts, which come first in their sections. */
export function absences(reading: Reading, found: Absences): Fact[] {
  return (['allergies', 'medications', 'problems', 'immunizations'] as const).flatMap((kind) =>
    found[kind].flatMap((absence): Fact[] => {
      const { name, code, sources } = absence;
      const [entry, ...also] = sources;
      if (entry === undefined) return [];
      const { vaccineCode, medicationCodeableConcept, code: own } = entry.value;
      const concept = own ?? vaccineCode ?? medicationCodeableConcept;
      const members = { absent: true, ...codeMembers(concept, name ?? code) };
      const base = kind === 'allergies' ? 'noAllergies' : kind;
      const said = wholeLine('; ', absenceText(absence), noteIn(entry.value));
      const fact = makeFact(reading, kind, base, entry, said, members, concept);
      return [{ ...fact, also, isNeeded: kind !== 'immunizations', place: -1 }];
    }),
  );
}

/** Returns problems, including past ones. A problem that was recorded at several visits becomes one fact. */
export function problems(reading: Reading): Fact[] {
  const beside = around(reading);
  const sources = listStated(reading, 'Condition').map((entry) => readProblemSource(entry, beside));
  return joinProblems(sources).map((problem) => stateProblem(reading, problem));
}

function stateProblem(reading: Reading, problem: Problem<Entry>): Fact {
  const { name = 'problem without a name', site, status, isOver, isOfDeceased, uncertainty } = problem;
  const { sources, oldest } = problem;
  const [{ told: entry } = oldest, ...others] = sources;
  const { value } = entry;
  const span = describeSpan(problemState(problem), problemPhrases(problem), isOver && !isOfDeceased);
  const said = wholeLine(
    '; ',
    `${wholeLine(', ', name, site)}: ${span === '' ? 'status not recorded' : span}`,
    ...repeatPhrases(problem).map(inEnglish),
    nameConcept(value.severity),
    nameCodes('en', 'verificationStatus', uncertainty),
    ...(isOver ? [] : changes(problem)),
    noteIn(value),
  );
  const members = {
    ...codeMembers(value.code, name),
    clinical_status: status ?? null,
    onset: choice(oldest.told.value, 'onset') ?? null,
    abatement: choice(value, 'abatement') ?? null,
  };
  const base = isOver ? 'pastProblems' : 'problems';
  const fact = makeFact(reading, 'problems', base, entry, said, members, value.code);
  return { ...fact, also: others.map(({ told }) => told), isNeeded: !isOver };
}

/** Returns a problem's state and since when it has had that state; for a problem that has ended, its newest episode. */
function describeSpan(status: string | undefined, phrases: readonly Phrase[], isOver: boolean): string {
  const [began, ended] = phrases;
  if (began?.says === 'since' && ended?.says === 'until')
    return wholeLine(' ', status, `${dayIn(began.days.day ?? '')} to ${dayIn(ended.days.day ?? '')}`);
  const said = phrases
    .filter(({ says }) => !isOver || says !== 'recorded')
    .map((each) => (isOver ? inEnglish(each).replace(/^since /, 'began ') : inEnglish(each)));
  const isDay = began?.days.day !== undefined;
  return wholeLine(isDay ? ' ' : ', ', status, wholeLine(', ', ...said));
}

/** Returns the notes from several resources about a medicine, without duplicates. */
function joinMedicineNotes(sources: Medicine<Entry>['sources']): string | undefined {
  return [...new Set(sources.flatMap(({ told }) => noteIn(told.value) ?? []))].join('; ') || undefined;
}

/** Returns a resource's notes, shortened, because they may be long and can be read in the record. */
function noteIn({ note }: JsonObject): string | undefined {
  const said = notes(note);
  return said === undefined ? undefined : inLine(said);
}

function makeFact(
  reading: Reading,
  kind: Fact['kind'],
  base: Base,
  entry: Entry,
  said: string,
  members: JsonObject,
  code: JsonObject[string] | undefined,
  coded: readonly Coded[] = readCodes(code),
): Fact {
  const { focus, today } = reading;
  const ended = base.startsWith('past') ? daysBetween(entry.dated.at, today) : 0;
  // Facts that ended long ago matter less.
  const score = BASE[base][focus.work] - (ended > 1_100 ? 120 : 0);
  const about = { kind, text: said, codes: coded, ageDays: ageDays(reading, entry) };
  return {
    kind,
    text: said,
    entry,
    also: [],
    codes: coded,
    score: raiseForRequest(score, focus, about),
    members,
  };
}
