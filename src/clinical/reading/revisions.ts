/**
 * Finds changes in later versions of an entry that matter to its reader: changes in how a medicine is taken, in a state, a
 * certainty or a danger. Pure. docs/clinical-reading.md, "Entries that were changed"
 */
import { objects, text } from '#src/fhir/parts.ts';
import type { Json, JsonObject } from '#src/shared/json/json-value.ts';
import { isRecent } from './doses/dose-dates.ts';
import { isMedicine, readMedicineSubject } from './medicine-subject.ts';
import type { CodeSet } from './names/code-words.ts';
import { hasModifier, hasResult, withdrawnAs } from './status.ts';
import { type Around, type Coded, type Replaced, readCodes, type Told } from './told.ts';
import { dosage } from './words.ts';

/**
 * The content of an element, for views to put into words: a dosage, reactions, a code in a set, a prohibition, or the record's
 * own words.
 */
export type Statement =
  | { readonly doses: Json }
  | { readonly reactions: Json }
  | { readonly isForbidden: true }
  | { readonly set: CodeSet; readonly code: string }
  | { readonly text: string };

/** An element that a later version changed. */
export interface Revision {
  /** The element's name in FHIR. */
  readonly element: string;
  /** When the version that last changed the element was stored, as an instant. */
  readonly at: string;
  /** The previous content of the element; undefined if there was none. */
  readonly before: Statement | undefined;
  /** How many times the element changed, according to the versions that were read. */
  readonly times: number;
  /** True if the change is recent. */
  readonly isRecent: boolean;
}

/** An element in one version: what it states, and a key by which statements are compared. */
interface Said {
  readonly key: string;
  readonly states: Statement | undefined;
}

/** Reads an element in a version. */
type Read = (told: Told, around: Around) => Said;

const NOTHING: Said = { key: '', states: undefined };

function ofCode(name: string, set: CodeSet): Read {
  return ({ value }) => {
    const code = text(value[name]) ?? readCodes(value[name])[0]?.code;
    return code === undefined ? NOTHING : { key: code, states: { set, code } };
  };
}

/** Concepts that share a code are equal, whatever their text is. */
function saidAs(name: string | undefined, codes: readonly Coded[]): Said {
  if (name === undefined) return NOTHING;
  const [key = name.trim().toLowerCase()] = codes.map(({ system, code }) => `${system}|${code}`).sort();
  return { key, states: { text: name } };
}

function ofConcept(element: string): Read {
  return ({ value }, { name }) => saidAs(name(value[element]), readCodes(value[element]));
}

const ofDrug: Read = (told, around) => {
  const { name, codes } = readMedicineSubject(told, around);
  return saidAs(name, codes);
};

const ofDoses: Read = ({ value }) => {
  const doses = value.dosage ?? value.dosageInstruction;
  return doses === undefined ? NOTHING : { key: dosage(doses) ?? JSON.stringify(doses), states: { doses } };
};

/** A prohibition never means the same as an order, whatever its status is. */
const ofState: Read = (told, around) =>
  told.value.doNotPerform === true
    ? { key: 'forbidden', states: { isForbidden: true } }
    : ofCode('status', 'medicationStatus')(told, around);

const ofReactions: Read = ({ value: { reaction } }, { name }) => {
  if (reaction === undefined) return NOTHING;
  const said = objects(reaction).map((each) => [
    name(each.manifestation) ?? text(each.description) ?? '',
    text(each.severity) ?? '',
    name(each.substance) ?? '',
  ]);
  return { key: said.join('; '), states: { reactions: reaction } };
};

const MEDICINE: Readonly<Record<string, Read>> = {
  medicationCodeableConcept: ofDrug,
  dosage: ofDoses,
  status: ofState,
};
const STATES: Readonly<Record<string, Read>> = {
  clinicalStatus: ofCode('clinicalStatus', 'clinicalStatus'),
  verificationStatus: ofCode('verificationStatus', 'verificationStatus'),
};

/** The elements whose changes matter, by type; the most dangerous first. */
const MATTERS: Readonly<Record<string, Readonly<Record<string, Read>>>> = {
  MedicationStatement: MEDICINE,
  MedicationRequest: MEDICINE,
  AllergyIntolerance: {
    code: ofConcept('code'),
    criticality: ofCode('criticality', 'criticality'),
    reaction: ofReactions,
    ...STATES,
  },
  Condition: {
    code: ofConcept('code'),
    ...STATES,
    severity: ofConcept('severity'),
    bodySite: ofConcept('bodySite'),
  },
  Immunization: {
    vaccineCode: ofConcept('vaccineCode'),
    status: ofCode('status', 'immunizationStatus'),
  },
};

/** The types whose earlier versions are read. */
export const REVISED_TYPES = Object.keys(MATTERS);

/** The members that are compared, for all types. */
const COMPARED = [
  ...[
    'code',
    'vaccineCode',
    'medicationCodeableConcept',
    'medicationReference',
    'dosage',
    'dosageInstruction',
  ],
  ...[
    'status',
    'doNotPerform',
    'criticality',
    'reaction',
    'clinicalStatus',
    'verificationStatus',
    'severity',
  ],
  ...['bodySite', 'component'],
] as const;

/** Returns whether two versions of an entry may differ in the compared members. */
export function mayDiffer(one: JsonObject, other: JsonObject): boolean {
  const values = [one, other].flatMap((each) => Object.keys(each).filter((name) => name.startsWith('value')));
  return [...COMPARED, ...values].some((name) => JSON.stringify(one[name]) !== JSON.stringify(other[name]));
}

/**
 * Returns the versions that can be compared. Drafts state nothing, and unknown modifiers may reverse a meaning, so these
 * aren't compared.
 */
function comparable({ type, replaced = [] }: Told): readonly Replaced[] {
  const isOfMedicine = MATTERS[type] === MEDICINE;
  return replaced.filter(({ value }) => !hasModifier(value) && (!isOfMedicine || isMedicine(value)));
}

/** Returns what was changed, the most dangerous first; empty if the entry was never changed. */
export function findRevisions(told: Told, around: Around): Revision[] {
  const earlier = comparable(told);
  if (earlier.length === 0) return [];
  return Object.entries(MATTERS[told.type] ?? {}).flatMap(([element, read]): Revision[] => {
    let { key: now } = read(told, around);
    let last: Omit<Revision, 'times' | 'isRecent'> | undefined;
    let times = 0;
    for (const { value, until } of earlier) {
      const { key, states } = read({ ...told, value }, around);
      if (key === now) continue;
      last ??= { element, at: until, before: states };
      times += 1;
      now = key;
    }
    if (last === undefined) return [];
    return [{ ...last, times, isRecent: isRecent(last.at, around.today) }];
  });
}

/**
 * Returns the change in a result's value.
 * @param read returns a version's value in words; undefined if the version has no value, which isn't treated as a change
 */
export function findValueRevision(
  { value, replaced = [] }: Pick<Told, 'value' | 'replaced'>,
  read: (value: JsonObject) => string | undefined,
  today = '',
): Revision | undefined {
  let now = read(value);
  let last: Omit<Revision, 'times' | 'isRecent'> | undefined;
  let times = 0;
  for (const { value: earlier, until } of replaced) {
    if (!hasResult(earlier.status) || withdrawnAs(earlier) !== undefined || hasModifier(earlier)) continue;
    const said = read(earlier);
    if (said === undefined || said === now) continue;
    last ??= { element: 'value', at: until, before: { text: said } };
    times += 1;
    now = said;
  }
  return last === undefined ? undefined : { ...last, times, isRecent: isRecent(last.at, today) };
}

/** The withdrawal of a statement: when it was withdrawn, and what it last said. */
export interface Withdrawal {
  readonly at: string;
  readonly before: JsonObject;
}

/**
 * Returns when an entry that had stated something was withdrawn; undefined if none of the versions that were read stated
 * anything.
 */
export function findWithdrawal(told: Told): Withdrawal | undefined {
  const last = told.replaced?.find(({ value }) => withdrawnAs(value) === undefined);
  return last === undefined || hasModifier(last.value) ? undefined : { at: last.until, before: last.value };
}
