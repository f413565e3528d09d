/**
 * A second reading of a record, for tests: takes raw JSON and returns sets of versions. It follows FHIR's definitions
 * (https://hl7.org/fhir/R4/) and docs/clinical-reading.md, and doesn't share any code with the product.
 */
import {
  codes,
  codesOf,
  isTrue,
  type Json,
  mentions,
  nameOf,
  read,
  reference,
  texts,
  type Version,
} from './raw.ts';
import {
  allergySays,
  at,
  changeDate,
  isDenied,
  isToCome,
  type MedicineGroup,
  medicineSays,
  problemSays,
  type Says,
  startOf,
} from './second-dates.ts';
import { findFailed, findNewest, type ToldValue } from './second-values.ts';

/** An item that the record tells us about, and the versions that it is based on. */
export interface Told {
  readonly name: string;
  readonly sources: readonly string[];
}

/** An item with its state and dates. */
export interface Stated extends Told {
  /**
   * The codes for the item's status, one of which is shown. There are several if several sources tie, and none if it has no
   * status.
   */
  readonly states: readonly string[];
  /** The verification status, unless it is `confirmed`. */
  readonly certainty: string | undefined;
  /** The possible statements about the item's dates, one of which is shown. */
  readonly says: readonly Says[];
}

/** An allergy. */
export interface ToldAllergy extends Stated {
  readonly isHigh: boolean;
  /**
   * The severity: high, not assessed or low; a higher number is more severe
   * (https://hl7.org/fhir/R4/valueset-allergy-intolerance-criticality.html).
   */
  readonly risk: number;
}

/** A medicine. */
export interface ToldMedicine extends Stated {
  /** All names in the sources that determine the medicine's standing, case-folded. */
  readonly names: readonly string[];
  /** True if views must say that a source denies that the medicine is taken. */
  readonly isDenied: boolean;
}

export interface SecondReading {
  readonly isDead: boolean;
  readonly current: readonly ToldMedicine[];
  readonly unclear: readonly ToldMedicine[];
  /** Medicines that aren't being taken yet. */
  readonly planned: readonly ToldMedicine[];
  readonly past: readonly ToldMedicine[];
  readonly forbidden: readonly ToldMedicine[];
  /** Sorted by criticality, most critical first. */
  readonly allergies: readonly ToldAllergy[];
  readonly inactiveAllergies: readonly ToldAllergy[];
  readonly activeProblems: readonly Stated[];
  readonly pastProblems: readonly Stated[];
  /** Problems recorded as active: those that are active, or were when the person died. */
  readonly recordedProblems: readonly Stated[];
  /** Problems recorded as resolved. */
  readonly resolvedProblems: readonly Stated[];
  readonly vaccinations: readonly Told[];
  /** The newest values for each LOINC code; several if they were measured at the same time. */
  readonly newest: ReadonlyMap<string, readonly ToldValue[]>;
  /** The days of later measurements without a result. */
  readonly failed: ReadonlyMap<string, string>;
  readonly byAi: readonly string[];
}

const TERMINOLOGY = 'http://terminology.hl7.org/CodeSystem';

/**
 * Reads the current versions of a record.
 * @param directory Medications, by `Medication/<id>`
 * @param today the current day
 */
export function readAgain(
  versions: readonly Version[],
  directory: ReadonlyMap<string, Json>,
  today: string,
): SecondReading {
  const facts = versions.filter((each) => !each.byAi && isTold(each.resource));
  const isDead = versions.some(
    ({ type, resource }) =>
      type === 'Patient' &&
      (isTrue(resource, 'deceasedBoolean') || texts(resource, 'deceasedDateTime').length > 0),
  );
  const of = (type: string): Version[] => facts.filter((each) => each.type === type);
  const newest = findNewest(of('Observation'));
  return {
    isDead,
    ...readMedicines(facts, directory, today, isDead),
    ...readAllergies(of('AllergyIntolerance')),
    ...readProblems(of('Condition'), isDead),
    // https://hl7.org/fhir/R4/valueset-immunization-status.html
    vaccinations: of('Immunization')
      .filter(({ resource }) => resource.status === 'completed')
      .map((each) => ({
        name: nameOf(each.resource, 'vaccineCode') ?? '',
        sources: [reference(each)],
      })),
    newest,
    failed: findFailed(of('Observation'), newest),
    byAi: versions.filter(({ byAi }) => byAi).map(reference),
  };
}

/** Returns whether a resource counts as a statement: an unknown modifier may reverse it, and what is refuted isn't true. */
function isTold(resource: Json): boolean {
  if (mentions(resource, 'modifierExtension') || mentions(resource, 'implicitRules')) return false;
  if (resource.status === 'entered-in-error') return false;
  const certainty = ['condition-ver-status', 'allergyintolerance-verification'].flatMap((name) =>
    codesOf(resource, 'verificationStatus', `${TERMINOLOGY}/${name}`),
  );
  return !certainty.some((code) => code === 'refuted' || code === 'entered-in-error');
}

interface Source {
  readonly version: Version;
  readonly codes: readonly string[];
  readonly name: string | undefined;
}

type Medicines = Pick<SecondReading, 'current' | 'unclear' | 'planned' | 'past' | 'forbidden'>;

/** https://hl7.org/fhir/R4/medicationrequest.html and medicationstatement.html */
function readMedicines(
  facts: readonly Version[],
  directory: ReadonlyMap<string, Json>,
  today: string,
  isDead: boolean,
): Medicines {
  const read: Medicines & Record<keyof Medicines, ToldMedicine[]> = {
    current: [],
    unclear: [],
    planned: [],
    past: [],
    forbidden: [],
  };
  const taken = facts
    .filter((each) => isMedicine(each))
    .map((version): Source => ({ version, ...identify(version.resource, directory) }));
  const isForbidden = ({ version }: Source): boolean => isTrue(version.resource, 'doNotPerform');
  const orders = taken.filter(isForbidden).filter(({ version }) => version.resource.status === 'active');
  for (const group of joinSame(orders))
    read.forbidden.push(
      tellSources(group, { deciding: group, standing: 'forbidden', planned: [], today }, isDead),
    );
  for (const group of joinSame(taken.filter((source) => !isForbidden(source)))) {
    const goingOn = group.filter(({ version }) =>
      ['active', 'on-hold', 'intended', 'unknown'].includes(String(version.resource.status)),
    );
    const over = goingOn.filter(({ version }) => isOver(version.resource, today));
    const lasting = goingOn.filter((source) => !over.includes(source));
    const later = lasting.filter(({ version }) => isLater(version.resource, today));
    const taken = lasting.filter((source) => !later.includes(source));
    const states = { current: taken, unclear: over, planned: later, past: group } as const;
    const standing =
      (['current', 'unclear', 'planned', 'past'] as const).find((each) => states[each].length > 0) ?? 'past';
    const now = isDead ? 'past' : standing;
    const planned = now === 'current' || now === 'unclear' ? later : [];
    const deciding = isDead ? group : states[now];
    read[now].push(tellSources(group, { deciding, standing: now, planned, today }, isDead));
  }
  return read;
}

function isMedicine({ type, resource }: Version): boolean {
  if (type === 'MedicationStatement') return true;
  return (
    type === 'MedicationRequest' &&
    resource.status !== 'draft' &&
    resource.status !== 'cancelled' &&
    resource.intent !== 'proposal' &&
    resource.intent !== 'option'
  );
}

/**
 * Returns whether a medicine isn't being taken yet: the record says so, or its first day is in the future. A request with the
 * intent `plan` doesn't authorize anything, unless it reports what the patient takes.
 */
function isLater(resource: Json, today: string): boolean {
  if (resource.status === 'intended') return true;
  if (resource.resourceType === 'MedicationRequest') return resource.intent === 'plan';
  const [start] = ['effectivePeriod.start', 'effectiveDateTime'].flatMap((path) => texts(resource, path));
  return start !== undefined && isToCome(start, today);
}

/** Returns the codes and the name in medication[x]. */
function identify(resource: Json, directory: ReadonlyMap<string, Json>): Omit<Source, 'version'> {
  const [target] = texts(resource, 'medicationReference.reference');
  if (target === undefined) {
    return {
      codes: codes(resource, 'medicationCodeableConcept'),
      name: nameOf(resource, 'medicationCodeableConcept'),
    };
  }
  const contained = read(resource, 'contained').find((each) => `#${texts(each, 'id')[0]}` === target);
  const medication = contained ?? directory.get(target);
  return {
    codes: codes(medication, 'code'),
    name: nameOf(medication, 'code') ?? texts(resource, 'medicationReference.display')[0],
  };
}

/** Returns whether the period is over. The end of a Period is inclusive, to its precision. */
function isOver(resource: Json, today: string): boolean {
  const isBefore = (end: string): boolean => end.slice(0, 10) < today.slice(0, Math.min(end.length, 10));
  if (texts(resource, 'effectivePeriod.end').some(isBefore)) return true;
  const dosages = [...read(resource, 'dosage'), ...read(resource, 'dosageInstruction')];
  return (
    dosages.length > 0 &&
    dosages.every((dosage) => texts(dosage, 'timing.repeat.boundsPeriod.end').some(isBefore))
  );
}

/**
 * Joins items that have a code in common, and then items that have a name in common. Names aren't joined if different codes of
 * one system distinguish some of the items, because an item with only the name could then be any of them.
 */
function joinSame<T extends { readonly codes: readonly string[]; readonly name: string | undefined }>(
  things: readonly T[],
): T[][] {
  const byCode = join(things, (one, other) => one.codes.some((code) => other.codes.includes(code)));
  const names = (group: readonly T[]): string[] =>
    group.flatMap(({ name }) => (name === undefined ? [] : fold(name)));
  const systems = (group: readonly T[]): string[] =>
    group.flatMap(({ codes }) => codes.map((code) => code.split('|')[0] ?? ''));
  const isClear = (name: string): boolean => {
    const all = byCode.filter((group) => names(group).includes(name)).map((group) => new Set(systems(group)));
    return new Set(all.flatMap((each) => [...each])).size === all.flatMap((each) => [...each]).length;
  };
  return join(byCode, (one, other) =>
    names(one).some((name) => names(other).includes(name) && isClear(name)),
  ).map((groups) => groups.flat());
}

const fold = (name: string): string => name.trim().toLowerCase();

/** Divides items into groups whose members are connected. */
function join<T>(things: readonly T[], isOne: (one: T, other: T) => boolean): T[][] {
  const groups: T[][] = [];
  for (const thing of things) {
    const found = groups.filter((group) => group.some((other) => isOne(thing, other)));
    for (const group of found) groups.splice(groups.indexOf(group), 1);
    groups.push([...found.flat(), thing]);
  }
  return groups;
}

/** The sources that determine a medicine's standing; the name that they use is shown. */
interface Standing extends Pick<MedicineGroup, 'standing' | 'today'> {
  readonly deciding: readonly Source[];
  readonly planned: readonly Source[];
}

function tellSources(
  group: readonly Source[],
  { deciding, standing, planned, today }: Standing,
  isDead: boolean,
): ToldMedicine {
  const named = (some: readonly Source[]): string[] =>
    some.flatMap(({ name = '' }) => (name === '' ? [] : [name]));
  const own = named(deciding);
  const names = own.length === 0 ? named(group).slice(0, 1) : own;
  const [all = [], decisive = [], plans = []] = [group, deciding, planned].map((some) =>
    some.map(({ version }) => version.resource),
  );
  const of = { all, deciding: decisive, standing, planned: plans, today };
  return {
    name: names[0] ?? '',
    names: [...new Set(names.map(fold))],
    sources: group.map(({ version }) => reference(version)).sort(),
    states: statesOf(of, isDead),
    certainty: undefined,
    says: [medicineSays(of)],
    isDenied: isDenied(of),
  };
}

/** Statuses of medicines that are no longer taken, or never were. */
const ENDED = ['stopped', 'completed', 'not-taken'];

/**
 * Returns a medicine's states. A statement says more about what is taken than a prescription does, and the newest of each kind
 * takes precedence.
 */
function statesOf({ deciding, standing }: MedicineGroup, isDead: boolean): string[] {
  if (standing === 'forbidden') return ['forbidden'];
  if (standing === 'planned') return ['intended'];
  const statements = deciding.filter(({ resourceType }) => resourceType === 'MedicationStatement');
  const leading = statements.length > 0 ? statements : deciding;
  const newest = Math.max(...leading.map(ranked));
  return leading
    .filter((each) => ranked(each) === newest)
    .map(({ status }) => String(status))
    .map((status) => {
      if (standing === 'unclear') return `unclear ${status}`;
      return isDead && !ENDED.includes(status) ? `before death ${status}` : status;
    });
}

/**
 * Returns a number for sorting sources: a source with only a recording date counts for less than a source with a date of its
 * own.
 */
function ranked(resource: Json): number {
  const isPlan = resource.intent === 'plan';
  const own = { ...resource, dateAsserted: undefined, ...(isPlan ? { authoredOn: undefined } : {}) };
  const date = startOf(own);
  return date === Number.NEGATIVE_INFINITY ? startOf(resource) - 1e15 : date;
}

/** https://hl7.org/fhir/R4/allergyintolerance.html: an allergy without a status can't be assumed to be over. */
function readAllergies(facts: readonly Version[]): Pick<SecondReading, 'allergies' | 'inactiveAllergies'> {
  const isActive = ({ resource }: Version): boolean =>
    !codesOf(resource, 'clinicalStatus', `${TERMINOLOGY}/allergyintolerance-clinical`).some(
      (code) => code === 'inactive' || code === 'resolved',
    );
  const tell = (each: Version): ToldAllergy => {
    const { resource } = each;
    return {
      name: nameOf(resource, 'code') ?? '',
      sources: [reference(each)],
      states: codesOf(resource, 'clinicalStatus', `${TERMINOLOGY}/allergyintolerance-clinical`),
      certainty: certaintyOf(resource, 'allergyintolerance-verification'),
      says: [allergySays(resource)],
      isHigh: resource.criticality === 'high',
      risk: RISKS[String(resource.criticality)] ?? 1,
    };
  };
  const active = facts.filter(isActive).map(tell);
  return {
    allergies: active.sort((a, b) => b.risk - a.risk),
    inactiveAllergies: facts.filter((each) => !isActive(each)).map(tell),
  };
}

const RISKS: Readonly<Record<string, number>> = { high: 2, 'unable-to-assess': 1, low: 0 };

function certaintyOf(resource: Json, system: string): string | undefined {
  return codesOf(resource, 'verificationStatus', `${TERMINOLOGY}/${system}`).find(
    (code) => code !== 'confirmed',
  );
}

/** https://hl7.org/fhir/R4/condition.html: without a clinical status, a condition that has abated is over (con-4). */
function readProblems(
  facts: readonly Version[],
  isDead: boolean,
): Pick<SecondReading, 'activeProblems' | 'pastProblems' | 'recordedProblems' | 'resolvedProblems'> {
  const status = ({ resource }: Version): string[] =>
    codesOf(resource, 'clinicalStatus', `${TERMINOLOGY}/condition-clinical`);
  const isActive = (each: Version): boolean => {
    const [code] = status(each);
    if (code !== undefined) return ['active', 'recurrence', 'relapse'].includes(code);
    return !Object.keys(each.resource).some((name) => name.startsWith('abatement'));
  };
  const certainty = ({ resource }: Version): string =>
    codesOf(resource, 'verificationStatus', `${TERMINOLOGY}/condition-ver-status`).join();
  const site = ({ resource }: Version): string =>
    read(resource, 'bodySite')
      .map((each) => nameOf({ each }, 'each'))
      .join();
  // A code may be used for many problems (`Disease`), so a different name or body site means a different problem.
  const isOne = (one: Version, other: Version): boolean =>
    certainty(one) === certainty(other) &&
    site(one) === site(other) &&
    fold(nameOf(one.resource, 'code') ?? '') === fold(nameOf(other.resource, 'code') ?? '');
  const tell = (some: readonly Version[], isOver: boolean, before = ''): Stated[] =>
    join(some, isOne)
      .flatMap((alike) =>
        joinSame(
          alike.map((version) => ({
            version,
            codes: codes(version.resource, 'code'),
            name: nameOf(version.resource, 'code'),
          })),
        ),
      )
      .map((group) => ({
        name: group[0]?.name ?? '',
        sources: group.map(({ version }) => reference(version)).sort(),
        states: newestOf(group.filter(({ version }) => status(version).length > 0)).flatMap(({ version }) =>
          status(version).map((code) => `${before}${code}`),
        ),
        certainty: group.map(({ version }) => certaintyOf(version.resource, 'condition-ver-status'))[0],
        says: problemSays(
          group.map(({ version }) => version.resource),
          isOver,
        ),
      }));
  const past = tell(
    facts.filter((each) => !isActive(each)),
    true,
  );
  const active = tell(facts.filter(isActive), false, isDead ? 'before death ' : '');
  const recorded = { recordedProblems: active, resolvedProblems: past };
  return isDead
    ? { activeProblems: [], pastProblems: [...active, ...past], ...recorded }
    : { activeProblems: active, pastProblems: past, ...recorded };
}

/** Returns the sources with a problem's latest state, determined by onset; all sources if none has an onset. */
function newestOf(group: readonly Source[]): readonly Source[] {
  const dates = group.map(({ version }) => at(changeDate(version.resource, 'onset')));
  const newest = Math.max(...dates);
  return group.filter((_, n) => dates[n] === newest);
}
