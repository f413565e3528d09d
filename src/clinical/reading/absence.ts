/**
 * Finds statements that the patient has no known allergy, medicine, problem or vaccination, or that nothing is known about
 * these. In FHIR, such a statement is an entry with a code for the denial; many systems write it in words instead. Such
 * entries must not be counted as allergies, medicines, problems or vaccinations. Pure.
 * https://hl7.org/fhir/R4/allergyintolerance.html#9.1.3.3,
 * https://hl7.org/fhir/uv/ips/STU1/CodeSystem-absent-unknown-uv-ips.html
 */
import { codings, first, objects, text } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import { type Dated, happened, isPast, newestFirst } from './dates.ts';
import { type DenialInWords, type DeniedList, isDenied, readDenial } from './names/denials.ts';
import { isOver, uncertainty } from './status.ts';
import type { Around, Told } from './told.ts';

const SNOMED = 'http://snomed.info/sct';
const ABSENT_UNKNOWN = 'http://hl7.org/fhir/uv/ips/CodeSystem/absent-unknown-uv-ips';

/**
 * The scope of a denial: `all` entries in the list, or the entries in one category. Narrower denials aren't compared with
 * anything.
 */
type Denied = 'all' | 'medication' | 'food' | 'environment' | 'narrower';

/** SNOMED CT codes: No known allergy and its descendants, No current problems, No known medications. */
const SNOMED_CODES: Readonly<Record<string, Denied>> = {
  '716186003': 'all',
  '160244002': 'all',
  '409137002': 'medication',
  '429625007': 'food',
  '428607008': 'environment',
  '428197003': 'narrower',
  '716184000': 'narrower',
  '1003774007': 'narrower',
  '716220001': 'narrower',
  '787482006': 'narrower',
  '160245001': 'all',
  '787481004': 'all',
};

/** Codes from the International Patient Summary. */
const IPS_CODES: Readonly<Record<string, Denied>> = {
  'no-known-allergies': 'all',
  'no-known-medication-allergies': 'medication',
  'no-known-food-allergies': 'food',
  'no-known-environmental-allergies': 'environment',
  'no-allergy-info': 'all',
  'no-known-problems': 'all',
  'no-problem-info': 'all',
  'no-known-medications': 'all',
  'no-medication-info': 'all',
  'no-known-immunizations': 'all',
  'no-immunization-info': 'all',
};

const DENIED: ReadonlyMap<string, Readonly<Record<string, Denied>>> = new Map([
  [SNOMED, SNOMED_CODES],
  [ABSENT_UNKNOWN, IPS_CODES],
]);

/** A statement of absence, which may be based on several entries. */
export interface Absence<Of extends Told = Told> {
  /** The code. The words for it are in the code words, under `absence`; narrower codes have only their name. */
  readonly code: string;
  readonly denies: Denied;
  readonly name: string | undefined;
  /** The record's own words for the denial, if it isn't coded. */
  readonly words: string | undefined;
  /** The substance that the words deny, if they deny a single substance. */
  readonly subject: string | undefined;
  readonly uncertainty: string | undefined;
  readonly dated: Dated;
  /** The person who states it, if the newest entry names one. */
  readonly by: string | undefined;
  /** The newest first. */
  readonly sources: readonly Of[];
  /** Names of recorded entries that contradict the denial. */
  readonly against: readonly string[];
  /** True if the record also contains a nameless entry of the kind that is denied. */
  readonly isAgainstUnnamed: boolean;
}

/** An entry that a statement of absence may deny: its name and, for an allergy, its categories. */
export interface Denial {
  readonly name: string | undefined;
  readonly categories: readonly string[];
}

/** Returns a concept's code for a denial; undefined if it has none. */
export function findAbsence(concept: Json | undefined): string | undefined {
  for (const { system, code } of codings(concept)) {
    const known = typeof system === 'string' ? DENIED.get(system) : undefined;
    if (known !== undefined && typeof code === 'string' && Object.hasOwn(known, code)) return code;
  }
  return undefined;
}

/** Returns the concept that says what an entry is about. */
function readConcept({ type, value }: Told, look: Around['look']): Json | undefined {
  if (type === 'Immunization') return value.vaccineCode;
  const { code, medicationCodeableConcept, medicationReference } = value;
  if (medicationReference === undefined) return code ?? medicationCodeableConcept;
  return look(first(medicationReference)?.reference, value)?.code;
}

/** The lists whose entries may be denials in words. */
const LISTS: Readonly<Record<string, DeniedList>> = {
  AllergyIntolerance: 'allergies',
  MedicationStatement: 'medicines',
  MedicationRequest: 'medicines',
  Condition: 'problems',
};

/** Members that only a real entry has, and a denial never has: what was taken, or what happened. */
const TELLING = ['dosage', 'dosageInstruction', 'doNotPerform', 'stage', 'severity', 'bodySite'] as const;

/**
 * Returns the denial that an entry states in words; undefined unless all texts in the entry are denials. An entry that also
 * has a code without a text isn't a denial, because the code may name the substance that the words mention.
 */
function findDenialInWords({ type, value }: Told, concept: Json | undefined): DenialInWords | undefined {
  const list = LISTS[type];
  if (list === undefined || TELLING.some((name) => value[name] !== undefined)) return undefined;
  const reactions = objects(value.reaction);
  const parts = reactions.flatMap(({ substance, manifestation }) => [substance, manifestation].flat());
  const noted =
    concept === undefined && list === 'allergies' && reactions.length === 0 ? value.note : undefined;
  const said = [
    ...objects(concept).flatMap(wordsIn),
    ...objects(parts.flatMap((part) => part ?? [])).flatMap(wordsIn),
    ...objects(noted).map((note) => text(note.text)),
    ...reactions.flatMap((each) => (each.description === undefined ? [] : [text(each.description)])),
  ];
  const denials = said.map((words) => (words === undefined ? undefined : readDenial(list, words)));
  // If the criticality is high, there was a reaction.
  if (value.criticality === 'high' || denials.includes(undefined)) return undefined;
  return denials[0];
}

/** Code systems whose codes name substances and diseases. */
const PUBLIC = /snomed|rxnorm|atc|unii|fdasis|med-?rt|ndf|ndc|loinc|icd|fhir\/sid/i;

/**
 * Returns the texts of a concept: its own text and, for each code, the display or otherwise the code itself. A code without a
 * display in a local code system is skipped, because it means the same as the concept's text.
 */
function wordsIn(concept: JsonObject): (string | undefined)[] {
  const own = text(concept.text);
  const coded = objects(concept.coding).flatMap(({ system, display, code }) => {
    const isOwn = own !== undefined && !PUBLIC.test(text(system) ?? '');
    return text(display) ?? (isOwn ? [] : (text(code) ?? []));
  });
  return own === undefined ? coded : [own, ...coded];
}

/** Returns whether an entry denies something, by a code or in words. */
export function isDenial(told: Told, concept: Json | undefined): boolean {
  return findAbsence(concept) !== undefined || findDenialInWords(told, concept) !== undefined;
}

/** Entries, split by whether they deny something. Denials that have ended are in neither list. */
export interface SplitEntries<Of extends Told> {
  readonly others: readonly Of[];
  readonly absences: readonly Absence<Of>[];
}

/** Separates statements of absence from all other entries. */
export function splitAbsences<Of extends Told>(
  entries: readonly Of[],
  { look, name, today }: Pick<Around, 'look' | 'name' | 'today'>,
): SplitEntries<Of> {
  const found = new Map<string, { readonly told: Of; readonly dated: Dated }[]>();
  const stated = new Map<string, Pick<Absence, 'code' | 'words' | 'subject'>>();
  const others: Of[] = [];
  for (const told of entries) {
    const concept = readConcept(told, look);
    const code = findAbsence(concept);
    const denial =
      code === undefined ? findDenialInWords(told, concept) : { code, words: undefined, subject: undefined };
    if (denial === undefined) others.push(told);
    else if (!isEnded(told.value, today)) {
      const own = { told, dated: happened(told) };
      const key = `${denial.code}|${denial.words?.toLowerCase() ?? ''}`;
      stated.set(key, stated.get(key) ?? denial);
      if (found.get(key)?.push(own) === undefined) found.set(key, [own]);
    }
  }
  const absences = [...found].flatMap(([key, all]): Absence<Of>[] => {
    const { code, words, subject } = stated.get(key) ?? { code: key, words: undefined, subject: undefined };
    const sources = all.sort((a, b) => newestFirst(a, b) || b.dated.at - a.dated.at);
    const [lead] = sources;
    if (lead === undefined) return [];
    const { told, dated } = lead;
    const { verificationStatus } = told.value;
    return [
      {
        code,
        denies: SNOMED_CODES[code] ?? IPS_CODES[code] ?? 'narrower',
        name: name(readConcept(told, look)) ?? words,
        words,
        subject,
        uncertainty: verificationStatus === undefined ? undefined : uncertainty(verificationStatus),
        dated,
        by: readAuthor(told.value),
        sources: sources.map((each) => each.told),
        against: [],
        isAgainstUnnamed: false,
      },
    ];
  });
  return { others, absences: absences.sort(newestFirst) };
}

/** Statuses of medicines with which a denial no longer applies. */
const ENDED: ReadonlySet<string> = new Set(['completed', 'stopped']);

function isEnded(value: JsonObject, today: string): boolean {
  if (value.resourceType === 'Immunization' || value.vaccineCode !== undefined) return false;
  const end = text(first(value.effectivePeriod)?.end);
  return (
    isOver(value.clinicalStatus) ||
    ENDED.has(text(value.status) ?? '') ||
    (end !== undefined && isPast(end, today))
  );
}

/** Returns who made the statement: the asserter, the source of the information, or the recorder. */
function readAuthor({ asserter, informationSource, recorder, requester }: JsonObject): string | undefined {
  return objects([asserter, informationSource, recorder, requester].filter((each) => each !== undefined))
    .flatMap(({ display }) => text(display) ?? [])
    .at(0);
}

/**
 * Returns statements of absence, each with the names of the recorded entries that contradict it.
 * @param current the entries that currently apply
 */
export function contradictAbsences<Of extends Told>(
  absences: readonly Absence<Of>[],
  current: readonly Denial[],
): readonly Absence<Of>[] {
  if (current.length === 0) return absences;
  return absences.map((absence) => {
    const { denies, subject } = absence;
    const against = current.filter(({ name, categories }) =>
      denies === 'narrower'
        ? subject !== undefined && name !== undefined && isDenied(name, subject)
        : denies === 'all' || categories.length === 0 || categories.includes(denies),
    );
    const names = new Set(against.flatMap(({ name }) => name ?? []));
    const isAgainstUnnamed = against.some(({ name }) => name === undefined);
    return against.length === 0 ? absence : { ...absence, against: [...names], isAgainstUnnamed };
  });
}

/** Returns the active allergies, for comparison with denials. */
export function activeAllergies(
  allergies: readonly { readonly told: Told; readonly name: string | undefined; readonly isOver: boolean }[],
): Denial[] {
  return allergies.flatMap(({ told, name, isOver: isPastOne }) => {
    const { category } = told.value;
    const categories = Array.isArray(category) ? category.flatMap((each) => text(each) ?? []) : [];
    return isPastOne ? [] : [{ name, categories }];
  });
}

/** Returns the medicines that are being taken, for comparison with denials. */
export function takenMedicines(
  medicines: readonly { readonly name: string | undefined; readonly standing: string }[],
): Denial[] {
  return medicines.flatMap(({ name, standing }) =>
    standing === 'current' || standing === 'unclear' ? [{ name, categories: [] }] : [],
  );
}

/** Returns the active problems, for comparison with denials. */
export function activeProblems(
  problems: readonly { readonly name: string | undefined; readonly isOver: boolean }[],
): Denial[] {
  return problems.flatMap(({ name, isOver: isPastOne }) => (isPastOne ? [] : [{ name, categories: [] }]));
}

/** Returns the vaccines that were given, for comparison with denials. */
export function givenVaccines(
  vaccinations: readonly { readonly name: string | undefined; readonly isGiven: boolean }[],
): Denial[] {
  return vaccinations.flatMap(({ name, isGiven }) => (isGiven ? [{ name, categories: [] }] : []));
}
