/**
 * Builds the rows for the allergies, problems, medicines and vaccinations in the clinical reading: texts, and phrases for
 * which the page has words.
 */
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
import { type Allergy, mostDangerousFirst, readAllergy } from '#src/clinical/reading/allergies.ts';
import { ageText } from '#src/clinical/reading/changes.ts';
import { isMedicine } from '#src/clinical/reading/medicine-subject.ts';
import {
  currentFirst,
  joinMedicine,
  joinMedicines,
  type Medicine,
  type MedicineSource,
  readMedicineSource,
} from '#src/clinical/reading/medicines.ts';
import { type CodeSet, findCodeWord, type WordLanguage } from '#src/clinical/reading/names/code-words.ts';
import {
  absencePhrases,
  allergyPhrases,
  datePhrase,
  dosePhrases,
  medicinePhrases,
  type Phrase,
  problemPhrases,
  repeatPhrases,
  stateOfMedicine,
  substitutionPhrases,
} from '#src/clinical/reading/phrases.ts';
import { joinProblems, type Problem, readProblemSource } from '#src/clinical/reading/problems.ts';
import type { Told } from '#src/clinical/reading/told.ts';
import {
  joinVaccinations,
  readVaccination,
  subpotentText,
  type Vaccination,
} from '#src/clinical/reading/vaccinations.ts';
import type { ToldRow } from '#src/clinical/summary/not-listed.ts';
import type { JsonObject } from '#src/shared/json/json-value.ts';
import { type Changed, changesIn, refutedRow } from './changed.ts';
import {
  EMPTY,
  isAmong,
  type Kind,
  type PageAround,
  type PagePhrase,
  type RefutedRow,
  type Row,
} from './rows.ts';
import { COMMA, joined, phraseMark, string, word } from './texts.ts';

/** The kinds of sections whose content comes from the clinical reading. */
export const KNOWN = [
  'allergies',
  'problems',
  'past',
  'functional',
  'medications',
  'immunizations',
] as const satisfies readonly Kind[];

/** One of them. */
export type KnownKind = (typeof KNOWN)[number];

/** Returns whether the content of a kind of section comes from the clinical reading. */
export const isKnown = (kind: Kind): kind is KnownKind => isAmong(KNOWN, kind);

/** A row that hasn't been assigned to a section yet. */
type KnownRow = Omit<Row, 'kind'>;

/**
 * Returns the rows of a section.
 * @param resources the section's resources, none of them withdrawn
 * @param around the reading's look-up functions, plus `lang`, `died`, and `clean`, which makes text safe to display
 */
export function knownRows(
  kind: KnownKind,
  resources: readonly JsonObject[],
  around: PageAround,
): readonly Row[] {
  const told = resources.map((value, n) => makeTold(value, n, around));
  const { others, absences } = splitAbsences(told, around);
  const [rows, current] = rowsOfKind(kind, others, around);
  const denied = contradictAbsences(absences, current).map((absence) => absenceRow(absence, around));
  return [...denied, ...rows].map((row) => ({ ...row, kind }));
}

/** Returns an entry in the form that the clinical reading accepts, with the versions that its current version replaced. */
function makeTold(value: JsonObject, n: number, { replaced }: PageAround): Told {
  const type = string(value.resourceType);
  const id = typeof value.id === 'string' ? value.id : String(n);
  return { type, id, value, replaced: replaced.get(`${type}/${id}`) };
}

/**
 * Returns the rows for allergies that somebody has refuted.
 * @param resources AllergyIntolerances
 */
export function refutedRows(resources: readonly JsonObject[], around: PageAround): RefutedRow[] {
  return resources.map((value, n) => refutedRow(readAllergy(makeTold(value, n, around), around), around));
}

const entryKey = ({ type, id }: Told): string => `${type}/${id}`;

/** Returns a row's changes, and the badges for recent changes. A row about something that has ended gets no badges. */
function changed(
  of: Changed & { readonly isOver?: boolean; readonly standing?: string },
  entries: readonly Told[],
  kind: string,
  around: PageAround,
): Pick<Row, 'changes' | 'marks'> {
  const { changes, marks } = changesIn(of, entries.map(entryKey), kind, { ...around, makePhrase });
  return { changes, marks: of.isOver || of.standing === 'past' ? [] : marks };
}

/** Returns a section's rows, and the facts that are currently true. */
function rowsOfKind(
  kind: KnownKind,
  told: readonly Told[],
  around: PageAround,
): [readonly KnownRow[], readonly Denial[]] {
  if (kind === 'allergies') {
    const allergies = told.map((each) => readAllergy(each, around)).sort(mostDangerousFirst);
    return [allergyRows(allergies, around), activeAllergies(allergies)];
  }
  if (kind === 'immunizations') {
    const vaccinations = joinVaccinations(told.map((each) => readVaccination(each, around)));
    return [vaccinationRows(vaccinations, around), givenVaccines(vaccinations)];
  }
  if (kind === 'medications') {
    const medicines = joinAsTold(readSources(told, around), around);
    return [medicineRows(medicines, around), takenMedicines(medicines)];
  }
  const problems = joinProblems(told.map((each) => readProblemSource(each, around)));
  return [problemRows(problems, around), activeProblems(problems)];
}

/** Returns the row for a statement of absence. */
function absenceRow(absence: Absence, around: PageAround): KnownRow {
  const { code, name, uncertainty } = absence;
  return {
    ...EMPTY,
    name: capital(around.lang, findCodeWord(around.lang, 'absence', code) ?? around.clean(name)),
    details: [codeWord(around, 'verificationStatus', uncertainty)],
    says: absencePhrases(absence).map((phrase) => makePhrase(around, phrase)),
    isAbsence: true,
  };
}

const codeWord = ({ lang, clean }: PageAround, set: CodeSet, code: string | undefined): string =>
  code === undefined ? '' : (findCodeWord(lang, set, code) ?? clean(code));

/** Returns a phrase with its status, its age and the record's own words in the page's language. */
export const makePhrase = (
  around: PageAround,
  { says, days, times, state, age, text }: Phrase,
): PagePhrase => ({
  ...(says === 'dosestate'
    ? { text: codeWord(around, 'medicationStatus', state) }
    : says === 'doseplanned'
      ? { text: codeWord(around, 'medicationStatus', 'intended') }
      : { key: says === 'until' ? 'days.until' : (`known.${says}` as const) }),
  days,
  times,
  ...(state === undefined ? {} : { state: codeWord(around, 'medicationStatus', state) }),
  ...(age === undefined ? {} : { values: { age: ageText(around.lang, age) } }),
  ...(text === undefined ? {} : { values: { text: around.clean(text) } }),
});

function allergyRows(allergies: readonly Allergy[], around: PageAround): KnownRow[] {
  const { clean, lang } = around;
  return allergies.map((allergy): KnownRow => {
    const { value } = allergy.told;
    return {
      ...EMPTY,
      name: clean(allergy.name),
      details: [
        around.reactions(value, allergy.name),
        allergy.isOver ? codeWord(around, 'clinicalStatus', allergy.status) : '',
        codeWord(around, 'verificationStatus', allergy.uncertainty),
      ],
      says: allergyPhrases(allergy).map((phrase) => makePhrase(around, phrase)),
      flag: allergy.isCritical && !allergy.isOver ? 'critical' : '',
      flagged: capital(lang, codeWord(around, 'criticality', clean(value.criticality))),
      ...changed(allergy, [allergy.told], 'allergies', around),
      isOver: allergy.isOver,
    };
  });
}

function problemRows(problems: readonly Problem[], around: PageAround): KnownRow[] {
  const { clean } = around;
  return problems.map((problem): KnownRow => {
    const { sources, oldest, status, uncertainty, isOver, isOfDeceased } = problem;
    const { value } = (sources[0] ?? oldest).told;
    return {
      ...EMPTY,
      name: clean(problem.name),
      details: [
        clean(problem.site),
        clean(around.name(value.severity)),
        status === undefined ? word('known.nostate') : '',
        status === 'active' || isOfDeceased ? '' : codeWord(around, 'clinicalStatus', status),
        codeWord(around, 'verificationStatus', uncertainty),
      ],
      says: [
        ...(isOfDeceased && status !== undefined
          ? [{ key: 'known.ofdeceased' as const, state: codeWord(around, 'clinicalStatus', status) }]
          : []),
        ...problemPhrases(problem).map((phrase) => makePhrase(around, phrase)),
        ...repeatPhrases(problem).map((phrase) => makePhrase(around, phrase)),
      ],
      ...changed(
        problem,
        sources.map(({ told }) => told),
        'problems',
        around,
      ),
      isOver,
    };
  });
}

function readSources(told: readonly Told[], around: PageAround): MedicineSource[] {
  return told.filter(({ value }) => isMedicine(value)).map((each) => readMedicineSource(each, around));
}

/** A medicine, with its row in a summary's narrative, if it has one. */
type ToldMedicine = Medicine & { readonly inNarrative?: ToldRow };

function medicineRows(medicines: readonly ToldMedicine[], around: PageAround): KnownRow[] {
  const { clean, died } = around;
  return medicines.map(({ inNarrative, ...medicine }): KnownRow => {
    const { doses } = medicine;
    const toldPhrases = inNarrative?.phrases ?? [];
    const name = clean(inNarrative?.name ?? medicine.name);
    const { said, status } = inNarrative?.state ?? {
      said: stateOfMedicine(medicine, died),
      status: medicine.status,
    };
    const standing = said === 'unclear' ? said : medicine.standing;
    const state = codeWord(around, 'medicationStatus', status);
    return {
      ...EMPTY,
      name,
      details: [
        said === 'planned'
          ? codeWord(around, 'medicationStatus', 'intended')
          : said === 'plain' && status !== 'active'
            ? state
            : '',
        ...doses.map((dose) => {
          const own = clean(dose.name);
          const apart = dosePhrases(dose, medicine).map((phrase) => phraseMark(makePhrase(around, phrase)));
          const words = around.doses(dose.dosage);
          const how = apart.length === 0 ? words : `${words} (${joined(apart, COMMA)})`;
          return own === '' || own.toLowerCase() === name.toLowerCase() ? how : `${own}: ${how}`;
        }),
      ],
      says: [
        ...(said === 'unclear' || said === 'ofdeceased' ? [{ key: `known.${said}` as const, state }] : []),
        ...(toldPhrases.length > 0 ? toldPhrases : medicinePhrases(medicine)).map((phrase) =>
          makePhrase(around, phrase),
        ),
        ...substitutionPhrases(medicine).map((phrase) => makePhrase(around, phrase)),
      ],
      flag: said === 'forbidden' ? 'critical' : '',
      flagged: '',
      ...(said === 'forbidden' ? { flaggedKey: 'known.forbidden' } : {}),
      ...changed(
        medicine,
        medicine.sources.map(({ told }) => told),
        'medications',
        around,
      ),
      isOver: standing === 'past',
      standing,
    };
  });
}

/**
 * Combines sources into medicines. Sources in the same row of a summary's narrative are always combined, because the entry
 * that links them may be missing. The row then also determines the name and the status, and has its own dates.
 */
function joinAsTold(sources: readonly MedicineSource[], { told }: PageAround): ToldMedicine[] {
  const groups = new Map<ToldRow | undefined, MedicineSource[]>();
  for (const source of sources) {
    const row = told.get(entryKey(source.told));
    if (groups.get(row)?.push(source) === undefined) groups.set(row, [source]);
  }
  return [...groups]
    .flatMap(([inNarrative, group]): ToldMedicine[] =>
      inNarrative === undefined ? joinMedicines(group) : [{ ...joinMedicine(group), inNarrative }],
    )
    .sort(currentFirst);
}

/** Returns the row for a medicine that must not be given, as a summary's narrative describes it. */
export function forbiddenRow({ forbidden, phrases }: ToldRow, around: PageAround): Row {
  return {
    ...EMPTY,
    kind: 'medications',
    name: around.clean(forbidden),
    says: phrases.map((phrase) => makePhrase(around, phrase)),
    flag: 'critical',
    flaggedKey: 'known.forbidden',
    standing: 'forbidden',
  };
}

/**
 * Returns each vaccine once, with the days of its doses. The numbers of the doses are included if they distinguish the doses.
 */
function vaccinationRows(vaccinations: readonly Vaccination[], around: PageAround): KnownRow[] {
  const { clean } = around;
  return vaccinations.map(({ name, doses }): KnownRow => {
    const numbers = doses.map((dose) => around.doseNumber(dose.told.value));
    const isNumbered = new Set(numbers).size === doses.length;
    return {
      ...EMPTY,
      name: clean(name),
      says: [
        ...doses.flatMap(({ when, dated, told }, n): PagePhrase[] => {
          const phrase = when === undefined ? datePhrase(dated) : undefined;
          const said = phrase === undefined ? { text: clean(when) } : makePhrase(around, phrase);
          const subpotent = subpotentText(told.value, around.lang, around.name);
          return [
            { ...said, before: isNumbered ? numbers[n] : '' },
            ...(subpotent === undefined ? [] : [{ text: clean(subpotent) }]),
          ];
        }),
        ...(doses.length === 1 ? [] : [{ key: 'known.doses' as const, doses: doses.length }]),
      ],
      ...changed(
        { name, revisions: doses.flatMap(({ revisions }) => revisions) },
        doses.map(({ told }) => told),
        'immunizations',
        around,
      ),
    };
  });
}

const capital = (lang: WordLanguage, text: string): string =>
  text.slice(0, 1).toLocaleUpperCase(lang) + text.slice(1);
