/**
 * Creates warnings: about contradictions in the record, and about the number of resources that are left out for patient
 * safety.
 */

import { compareDates } from '#src/clinical/reading/doses/dose-dates.ts';
import { refutedText, statusWord } from '#src/clinical/reading/english.ts';
import { readMedicineSubject } from '#src/clinical/reading/medicine-subject.ts';
import type { Medicine, MedicineSource } from '#src/clinical/reading/medicines.ts';
import { findCodeWord } from '#src/clinical/reading/names/code-words.ts';
import { nameConcept } from '#src/clinical/reading/names/name.ts';
import { isOver } from '#src/clinical/reading/status.ts';
import { readCodes } from '#src/clinical/reading/told.ts';
import { dosage } from '#src/clinical/reading/words.ts';
import { codes, objects } from '#src/fhir/parts.ts';
import { dayIn } from '#src/shared/time/day.ts';
import { type Absences, NAMELESS } from './clinical.ts';
import { DAY } from './dates.ts';
import { inLine } from './fact.ts';
import { CLASSES } from './guidance/drugs.ts';
import type { Coded } from './guidance/scores.ts';
import { around, findDay, listStated, namedEntry, nameOr, type Reading } from './reading.ts';
import { type Entry, versionReference } from './record.ts';

export interface Warning {
  readonly kind: 'contradiction' | 'gap' | 'left_out' | 'not_found';
  readonly text: string;
  /** The versions that the warning is about. */
  readonly fhir: readonly string[];
  /** The number of resources, for warnings that count them. */
  readonly count?: number;
}

const contradiction = (text: string, ...entries: readonly Entry[]): Warning => ({
  kind: 'contradiction',
  text,
  fhir: [...new Set(entries.map(versionReference))],
});

type Named = Medicine<Entry> & { readonly name: string };

function namedOnes(medicines: readonly Medicine<Entry>[]): Named[] {
  return medicines.map((medicine) => ({ ...medicine, name: medicine.name ?? NAMELESS }));
}

/**
 * Returns a warning for each current or planned medicine that conflicts with an allergy, because both have the same substance,
 * ATC group or class.
 */
export function allergyContradictions(reading: Reading, medicines: readonly Medicine<Entry>[]): Warning[] {
  const current = namedOnes(medicines).filter(
    ({ standing }) => standing === 'current' || standing === 'unclear' || standing === 'planned',
  );
  return listStated(reading, 'AllergyIntolerance')
    .filter(({ value }) => !isOver(value.clinicalStatus))
    .flatMap((allergy) => {
      const causes = listCauses(allergy.value);
      const kind = allergy.value.type === 'intolerance' ? 'an intolerance' : 'an allergy';
      return current.flatMap((medicine) => {
        const cause = causes.find(({ substance, all }) => isAgainst(medicine, substance, all));
        if (cause === undefined) return [];
        const { name, status, standing, sources } = medicine;
        return contradiction(
          `${inLine(name)} is ${statusWord(standing === 'planned' ? 'intended' : status)}, but there is ${kind} to ${inLine(cause.substance)}`,
          ...sources.slice(0, 1).map(({ told }) => told),
          allergy,
        );
      });
    });
}

/**
 * Returns the substances that an allergy names: the substance in its code, and the substances in its reactions, which may be
 * more specific.
 */
function listCauses({
  code,
  reaction,
}: Entry['value']): { readonly substance: string; readonly all: readonly Coded[] }[] {
  return [code, ...objects(reaction).map(({ substance }) => substance)].map((concept) => ({
    substance: nameConcept(concept) ?? '',
    all: readCodes(concept),
  }));
}

/** Returns a warning for each statement of absence that an entry contradicts. */
export function absenceContradictions(absences: Absences): Warning[] {
  return Object.values(absences)
    .flat()
    .filter(({ against, isAgainstUnnamed }) => against.length > 0 || isAgainstUnnamed)
    .map(({ code, name = code, words, against, isAgainstUnnamed, sources }) => {
      const said = words === undefined ? '' : ` in words (“${inLine(words)}”)`;
      const others = [...against.map(inLine), ...(isAgainstUnnamed ? ['an entry without a name'] : [])];
      return contradiction(
        `“${findCodeWord('en', 'absence', code) ?? inLine(name)}” is recorded${said}, and also ${others.join(', ')}`,
        ...sources.slice(0, 1),
      );
    });
}

function isAgainst(
  medicine: Pick<Named, 'name' | 'codes'>,
  substance: string,
  all: readonly Coded[],
): boolean {
  const name = medicine.name.toLowerCase();
  const word = substance.toLowerCase().trim();
  const named = CLASSES.filter(({ words }) => words.test(substance));
  // The name of a class may also be the end of an unrelated drug's name: nystatin isn't a statin, apomorphine isn't an opioid.
  const isClass = named.length > 0 || CLASSES.some(({ words }) => words.test(medicine.name));
  const has = isClass ? hasWord : (text: string, part: string) => text.includes(part);
  if (word.length > 3 && (has(name, word) || (name.length > 3 && has(word, name)))) return true;
  const atc = readAtcCodes(medicine.codes);
  const same = readAtcCodes(all).some((code) => {
    const group = code.slice(0, CHEMICAL_GROUP);
    return group.length >= SMALLEST_GROUP && atc.some((each) => each.startsWith(group));
  });
  return (
    same ||
    named.some(({ words, codes: group }) => words.test(medicine.name) || atc.some((each) => group.test(each)))
  );
}

/** Returns whether a text contains another text, beginning at the start of a word. */
function hasWord(text: string, part: string): boolean {
  const [whole, wanted] = [text, part].map((each) => ` ${each.replace(/[^\p{L}\p{N}]+/gu, ' ')}`);
  return whole?.includes(wanted ?? '') === true;
}

/** The number of characters in an ATC code: 3 for a therapeutic group, 5 for a chemical group, 7 for a substance. */
const [SMALLEST_GROUP, CHEMICAL_GROUP, SUBSTANCE] = [3, 5, 7];

function readAtcCodes(all: readonly Coded[]): string[] {
  return all.flatMap(({ system, code }) => (/atc/i.test(system) ? [code.trim().toUpperCase()] : []));
}

/** Statuses of medicines that aren't taken. */
const NOT_TAKEN: ReadonlySet<string> = new Set(['stopped', 'completed', 'on-hold', 'not-taken']);

/** Returns, in words, what one source states about a medicine. */
function sourceWord({ standing, status }: MedicineSource): string {
  return standing === 'forbidden' ? 'not to be given' : statusWord(status);
}

/** Returns warnings for medicines that are both active and not active, active in several doses, or active after their end. */
export function drugContradictions(reading: Reading, medicines: readonly Medicine<Entry>[]): Warning[] {
  const { today } = reading;
  return groupBySubstance(namedOnes(medicines)).flatMap((same) => {
    const sources = same.flatMap((medicine) => medicine.sources);
    const names = new Map(sources.map(({ name = NAMELESS }) => [name.toLowerCase(), name]));
    const name = inLine([...names.values()].join(' / '));
    const active = eachDoseOnce(
      sources.filter(
        ({ status, standing }) => status === 'active' && standing !== 'forbidden' && standing !== 'planned',
      ),
    );
    const [one] = active;
    if (one === undefined) return [];
    const over = sources.find((source) => isNotTaken(source) && overlaps(source, one.source));
    const ended = active.find(
      ({ source: { until } }) => until !== undefined && Date.parse(until) < today - DAY,
    );
    return [
      ...(over === undefined
        ? []
        : [contradiction(`${name} is both active and ${sourceWord(over)}`, one.source.told, over.told)]),
      ...(active.length < 2
        ? []
        : [
            contradiction(
              `${name} is active in several doses: ${active.map(({ dose }) => inLine(dose)).join('; ')}`,
              ...active.map(({ source }) => source.told),
            ),
          ]),
      ...(ended?.source.until === undefined
        ? []
        : [
            contradiction(
              `${inLine(ended.source.name ?? NAMELESS)} is active, but its end was ${dayIn(ended.source.until)}`,
              ended.source.told,
            ),
          ]),
    ];
  });
}

function isNotTaken({ status, standing }: MedicineSource): boolean {
  return standing === 'forbidden' || NOT_TAKEN.has(status);
}

/** Returns one source for each dose, together with the dose in words. */
function eachDoseOnce(
  sources: readonly MedicineSource<Entry>[],
): { readonly source: MedicineSource<Entry>; readonly dose: string }[] {
  const found = new Map<string, MedicineSource<Entry>>();
  for (const source of sources) {
    const dose = dosage(source.dosage) ?? 'not said';
    if (!found.has(dose)) found.set(dose, source);
  }
  return [...found].map(([dose, source]) => ({ dose, source }));
}

/** Groups medicines by substance: by ATC code, or by name if there is no code. */
function groupBySubstance(drugs: readonly Named[]): Named[][] {
  const findSubstance = (drug: Named): string | undefined =>
    readAtcCodes(drug.codes).find(({ length }) => length === SUBSTANCE);
  const bySubstance = new Map<string, Named[]>();
  const byName = new Map<string, Named[]>();
  for (const drug of drugs) {
    const substance = findSubstance(drug);
    if (substance === undefined) add(byName, drug.name.toLowerCase(), drug);
    else add(bySubstance, substance, drug);
  }
  for (const coded of bySubstance.values()) {
    for (const name of new Set(coded.map((drug) => drug.name.toLowerCase()))) {
      for (const drug of byName.get(name) ?? []) coded.push(drug);
    }
  }
  const coded = new Set([...bySubstance.values()].flat());
  const others = [...byName.values()].filter((same) => same.some((drug) => !coded.has(drug)));
  return [...bySubstance.values(), ...others];
}

function add<T>(groups: Map<string, T[]>, key: string, item: T): void {
  if (groups.get(key)?.push(item) === undefined) groups.set(key, [item]);
}

/**
 * Returns whether a statement that a medicine isn't taken contradicts a statement that it is taken. They don't contradict each
 * other if a course ended before the other began, or if an earlier prescription ended because the next one was written.
 */
function overlaps(over: MedicineSource, active: MedicineSource): boolean {
  const began = active.from ?? active.takenOn ?? active.prescribed;
  if (over.prescribed !== undefined && active.prescribed !== undefined && over.standing !== 'forbidden')
    return Date.parse(over.prescribed) > Date.parse(active.prescribed);
  return over.until === undefined || began === undefined || Date.parse(over.until) > Date.parse(began);
}

/** Returns a warning for each problem that is recorded both as active and as ended. */
export function problemContradictions(reading: Reading): Warning[] {
  const byProblem = new Map<string, Entry[]>();
  for (const entry of listStated(reading, 'Condition')) {
    const [code] = readCodes(entry.value.code);
    const key =
      code === undefined
        ? (nameConcept(entry.value.code) ?? '').toLowerCase()
        : `${code.system}|${code.code}`;
    add(byProblem, key, entry);
  }
  return [...byProblem.values()].flatMap((same) => {
    const active = same.find(({ value }) => codes(value.clinicalStatus).includes('active'));
    const over = same.find(({ value }) => isOver(value.clinicalStatus) && !endedBefore(value, active));
    if (active === undefined || over === undefined) return [];
    const [status] = codes(over.value.clinicalStatus);
    return [
      contradiction(
        `${inLine(nameConcept(active.value.code) ?? 'a problem')} is both active and ${findCodeWord('en', 'clinicalStatus', status ?? '') ?? status}`,
        active,
        over,
      ),
    ];
  });
}

/** Returns whether an episode ended before another began, in which case they don't contradict each other. */
function endedBefore({ abatementDateTime }: Entry['value'], active: Entry | undefined): boolean {
  if (typeof abatementDateTime !== 'string' || active === undefined) return false;
  return Date.parse(abatementDateTime) <= active.dated.at;
}

/** Types of resources that describe something that happened or began. */
const HAPPENED = [
  ...['Observation', 'DiagnosticReport', 'Condition', 'AllergyIntolerance', 'MedicationStatement'],
  ...['Procedure', 'Immunization', 'MedicationRequest'],
];
/** Statuses of events that may be in the future, or that never happened. */
const TO_COME: ReadonlySet<string> = new Set([
  ...['intended', 'on-hold', 'preparation', 'not-done', 'registered', 'cancelled'],
]);
/** The maximum number of resources that a warning names. */
const NAMED = 5;

/** Returns a warning about resources dated after today, which would rank as the newest. */
export function futureDates(reading: Reading): Warning[] {
  const { facts } = reading.opened;
  const later = HAPPENED.flatMap((type) => {
    const entries = facts.get(type) ?? [];
    // Entries are sorted newest first, so all future ones come first.
    const past = entries.findIndex(({ dated }) => dated.at <= reading.today + DAY);
    return past < 0 ? entries : entries.slice(0, past);
  }).filter(({ value }) => !TO_COME.has(String(value.status)));
  return datedAfter(reading, 'today', later);
}

/**
 * Returns a warning about medicines and vaccinations that are dated after the person's death. Either date may be wrong, or the
 * entries may belong to somebody else.
 */
export function deathContradictions(reading: Reading, medicines: readonly Medicine<Entry>[]): Warning[] {
  const { died } = around(reading);
  if (died?.date === undefined) return [];
  const taken = medicines
    .flatMap(({ sources }) => sources)
    .flatMap(({ diedBefore, told }) => (diedBefore === undefined ? [] : [told]));
  const given = listStated(reading, 'Immunization').filter(
    ({ value, dated: { date, means } }) =>
      value.status === 'completed' &&
      means === 'given' &&
      compareDates(date ?? undefined, died.date) === 'after',
  );
  return datedAfter(reading, `the death (${dayIn(died.date)})`, [...taken, ...given]);
}

function datedAfter(reading: Reading, what: string, later: readonly Entry[]): Warning[] {
  if (later.length === 0) return [];
  const named = later.slice(0, NAMED).map((entry) => {
    const { code, vaccineCode } = entry.value;
    const { name = nameOr(code ?? vaccineCode, entry.type) } = readMedicineSubject(entry, around(reading));
    return `${inLine(name)} (${findDay(entry) ?? ''})`;
  });
  const more = later.length > NAMED ? `, and ${later.length - NAMED} more` : '';
  return [contradiction(`dated after ${what}: ${named.join(', ')}${more}`, ...later.slice(0, NAMED))];
}

/** Returns a warning for each reason why resources were left out, with the number of resources. */
export function leftOutWarnings({ opened, displays }: Reading): Warning[] {
  const refuted = opened.refuted.map((entry): Warning => {
    const named = namedEntry(entry, displays);
    const name = nameOr(named.value.code, 'substance not recorded');
    return {
      kind: 'left_out',
      text: `allergy left out: ${inLine(refutedText(name, named))}`,
      fhir: [versionReference(entry)],
    };
  });
  return [...refuted, ...listCounts(opened)];
}

function listCounts({ leftOut }: Reading['opened']): Warning[] {
  return [...leftOut]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([reason, count]) => ({
      kind: 'left_out',
      text: `${count} ${count === 1 ? 'resource' : 'resources'} ${reason} left out`,
      fhir: [],
      count,
    }));
}
