/**
 * Makes the rows of the clinical reading's allergies, problems, medicines and vaccinations: texts, and phrases that the
 * page has words for.
 */
import {
  activeAllergies,
  activeProblems,
  contradictAbsences,
  givenVaccines,
  splitAbsences,
  takenMedicines,
} from '../../../clinical/reading/absence.ts';
import { mostDangerousFirst, readAllergy } from '../../../clinical/reading/allergies.ts';
import { ageText } from '../../../clinical/reading/changes.ts';
import { isMedicine } from '../../../clinical/reading/medicine-subject.ts';
import {
  currentFirst,
  joinMedicine,
  joinMedicines,
  readMedicineSource,
} from '../../../clinical/reading/medicines.ts';
import { findCodeWord } from '../../../clinical/reading/names/code-words.ts';
import {
  absencePhrases,
  allergyPhrases,
  datePhrase,
  dosePhrases,
  medicinePhrases,
  problemPhrases,
  repeatPhrases,
  stateOfMedicine,
} from '../../../clinical/reading/phrases.ts';
import { joinProblems, readProblemSource } from '../../../clinical/reading/problems.ts';
import { joinVaccinations, readVaccination, subpotentText } from '../../../clinical/reading/vaccinations.ts';
import { changesIn, refutedRow } from './changed.js';
import { COMMA, joined, phraseMark, word } from './texts.js';

/** The kinds of sections that a reading fills. */
export const KNOWN = ['allergies', 'problems', 'past', 'functional', 'medications', 'immunizations'];

/**
 * Returns the rows of a section.
 * @param resources its resources, none withdrawn
 * @param around the look-ups of the reading, with `lang`, `died`, and `clean`, which makes texts safe to show
 */
export function knownRows(kind, resources, around) {
  const told = resources.map((value, n) => makeTold(value, n, around));
  const { others, absences } = splitAbsences(told, around);
  const [rows, current] = rowsOfKind(kind, others, around);
  const denied = contradictAbsences(absences, current).map((absence) => absenceRow(absence, around));
  return [...denied, ...rows];
}

/** Returns an entry as the reading takes it, with the versions that it replaced. */
function makeTold(value, n, { replaced }) {
  const { resourceType: type } = value;
  const id = typeof value.id === 'string' ? value.id : String(n);
  return { type, id, value, replaced: replaced.get(`${type}/${id}`) };
}

/** Returns the rows of allergies that somebody refuted. @param resources AllergyIntolerances */
export function refutedRows(resources, around) {
  return resources.map((value, n) => refutedRow(readAllergy(makeTold(value, n, around), around), around));
}

const keyOf = ({ type, id }) => `${type}/${id}`;

/** Returns the changes of a row, and the marks of recent ones; what is over has none. */
function changed(of, entries, kind, around) {
  const { changes, marks } = changesIn(of, entries.map(keyOf), kind, { ...around, makePhrase });
  return { changes, marks: of.isOver || of.standing === 'past' ? [] : marks };
}

/** Returns the rows of a section, and what of them holds now. */
function rowsOfKind(kind, told, around) {
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

/** Returns the row of a statement that there is none. */
function absenceRow(absence, around) {
  const { code, name, uncertainty } = absence;
  return {
    ...row,
    name: capital(around.lang, findCodeWord(around.lang, 'absence', code) ?? around.clean(name)),
    details: [codeWord(around, 'verificationStatus', uncertainty)],
    says: absencePhrases(absence).map((phrase) => makePhrase(around, phrase)),
    isAbsence: true,
  };
}

const row = {
  ...{ name: '', details: [], says: [], date: '', flag: '', flagged: '', value: '', range: '' },
  ...{ files: [], isOver: false },
};

const codeWord = ({ lang, clean }, set, code) =>
  code === undefined ? '' : (findCodeWord(lang, set, code) ?? clean(code));

/** Returns a phrase with its state, its age or the record's words in the language. */
const makePhrase = (around, { says, days, times, state, age, text }) => ({
  ...(says === 'dosestate' ? { text: codeWord(around, 'medicationStatus', state) } : {}),
  ...(says === 'doseplanned' ? { text: codeWord(around, 'medicationStatus', 'intended') } : {}),
  key: says === 'until' ? 'days.until' : `known.${says}`,
  days,
  times,
  ...(state === undefined ? {} : { state: codeWord(around, 'medicationStatus', state) }),
  ...(age === undefined ? {} : { values: { age: ageText(around.lang, age) } }),
  ...(text === undefined ? {} : { values: { text: around.clean(text) } }),
});

function allergyRows(allergies, around) {
  const { clean, lang } = around;
  return allergies.map((allergy) => {
    const { value } = allergy.told;
    return {
      ...row,
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

function problemRows(problems, around) {
  const { clean } = around;
  return problems.map((problem) => {
    const { sources, oldest, status, uncertainty, isOver, isBeforeDeath } = problem;
    const { value } = (sources[0] ?? oldest).told;
    return {
      ...row,
      name: clean(problem.name),
      details: [
        clean(problem.site),
        clean(around.name(value.severity)),
        status === undefined ? word('known.nostate') : '',
        status === 'active' || isBeforeDeath ? '' : codeWord(around, 'clinicalStatus', status),
        codeWord(around, 'verificationStatus', uncertainty),
      ],
      says: [
        ...(isBeforeDeath && status !== undefined
          ? [{ key: 'known.beforedeath', days: {}, state: codeWord(around, 'clinicalStatus', status) }]
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

function readSources(told, around) {
  return told.filter(({ value }) => isMedicine(value)).map((each) => readMedicineSource(each, around));
}

function medicineRows(medicines, around) {
  const { clean, died } = around;
  return medicines.map(({ inNarrative, ...medicine }) => {
    const { doses } = medicine;
    const name = clean(inNarrative?.name ?? medicine.name);
    const { said, status } = inNarrative?.state ?? {
      said: stateOfMedicine(medicine, died),
      status: medicine.status,
    };
    const standing = said === 'unclear' ? said : medicine.standing;
    const state = codeWord(around, 'medicationStatus', status);
    return {
      ...row,
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
        ...(said === 'unclear' || said === 'beforedeath' ? [{ key: `known.${said}`, days: {}, state }] : []),
        ...(inNarrative?.phrases.length > 0 ? inNarrative.phrases : medicinePhrases(medicine)).map((phrase) =>
          makePhrase(around, phrase),
        ),
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
 * Joins the sources of medicines, those of one row of a summary's narrative in any case: what joins them may be no entry. Such
 * a row also decides the name and the state, and has dates of its own.
 */
function joinAsTold(sources, { told }) {
  const rowOf = ({ told: { type, id } }) => told.get(`${type}/${id}`);
  const groups = new Map();
  for (const source of sources) {
    const row = rowOf(source);
    if (!groups.has(row)) groups.set(row, []);
    groups.get(row).push(source);
  }
  return [...groups]
    .flatMap(([inNarrative, group]) =>
      inNarrative === undefined ? joinMedicines(group) : [{ ...joinMedicine(group), inNarrative }],
    )
    .sort(currentFirst);
}

/** Returns the row of a medicine that must not be given, as a summary's narrative tells it. */
export function forbiddenRow({ forbidden, phrases }, around) {
  return {
    ...row,
    name: around.clean(forbidden),
    says: phrases.map((phrase) => makePhrase(around, phrase)),
    flag: 'critical',
    flaggedKey: 'known.forbidden',
    standing: 'forbidden',
  };
}

/** Returns each vaccine once, with the days of its doses, and with their numbers if these tell them apart. */
function vaccinationRows(vaccinations, around) {
  const { clean } = around;
  return vaccinations.map(({ name, doses }) => {
    const numbers = doses.map((dose) => around.doseNumber(dose.told.value));
    const isNumbered = new Set(numbers).size === doses.length;
    return {
      ...row,
      name: clean(name),
      says: [
        ...doses.flatMap(({ when, dated, told }, n) => {
          const phrase = when === undefined ? datePhrase(dated) : undefined;
          const said = phrase === undefined ? { text: clean(when) } : makePhrase(around, phrase);
          const subpotent = subpotentText(told.value, around.lang, around.name);
          return [
            { ...said, before: isNumbered ? numbers[n] : '' },
            ...(subpotent === undefined ? [] : [{ key: 'known.on', text: clean(subpotent) }]),
          ];
        }),
        ...(doses.length === 1 ? [] : [{ key: 'known.doses', days: {}, doses: doses.length }]),
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

const capital = (lang, text) => text.slice(0, 1).toLocaleUpperCase(lang) + text.slice(1);
