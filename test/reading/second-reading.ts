/**
 * A second reading of a record, for tests: raw JSON goes in, and sets of versions come out. It follows FHIR's
 * definitions (https://hl7.org/fhir/R4/) and docs/clinical-reading.md, and shares no code with the product.
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
import { findNewest, type ToldValue } from './second-values.ts';

/** One thing that is known: its name, the versions that it rests on, and its date, if it has one. */
export interface Told {
  readonly name: string;
  readonly sources: readonly string[];
  readonly date?: string | undefined;
}

/** A medicine: `authoredOn` is a day of prescribing, and the start of a statement's period one of taking. */
export interface ToldMedicine extends Told {
  readonly prescribed: readonly string[];
}

export interface SecondReading {
  readonly isDead: boolean;
  readonly current: readonly ToldMedicine[];
  readonly unclear: readonly ToldMedicine[];
  readonly past: readonly ToldMedicine[];
  readonly forbidden: readonly ToldMedicine[];
  /** Most critical first. */
  readonly allergies: readonly (Told & { readonly isHigh: boolean })[];
  readonly inactiveAllergies: readonly Told[];
  readonly activeProblems: readonly Told[];
  readonly pastProblems: readonly Told[];
  readonly vaccinations: readonly Told[];
  /** The newest values of each code of LOINC: several if they were measured at the same time. */
  readonly newest: ReadonlyMap<string, readonly ToldValue[]>;
  readonly byAi: readonly string[];
}

const TERMINOLOGY = 'http://terminology.hl7.org/CodeSystem';

/** Reads the current versions of a record. @param directory Medications, by `Medication/<id>` @param today a day */
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
  return {
    isDead,
    ...readMedicines(facts, directory, today, isDead),
    ...readAllergies(of('AllergyIntolerance')),
    ...readProblems(of('Condition')),
    // https://hl7.org/fhir/R4/valueset-immunization-status.html
    vaccinations: of('Immunization')
      .filter(({ resource }) => resource.status === 'completed')
      .map((each) => ({
        name: nameOf(each.resource, 'vaccineCode') ?? '',
        sources: [reference(each)],
        date: texts(each.resource, 'occurrenceDateTime')[0],
      })),
    newest: findNewest(of('Observation')),
    byAi: versions.filter(({ byAi }) => byAi).map(reference),
  };
}

/** Whether a resource says something: an unknown modifier may turn it around, and what is refuted isn't so. */
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

type Medicines = Pick<SecondReading, 'current' | 'unclear' | 'past' | 'forbidden'>;

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
    past: [],
    forbidden: [],
  };
  const taken = facts
    .filter((each) => isMedicine(each))
    .map((version): Source => ({ version, ...identify(version.resource, directory) }));
  const isForbidden = ({ version }: Source): boolean => isTrue(version.resource, 'doNotPerform');
  const orders = taken.filter(isForbidden).filter(({ version }) => version.resource.status === 'active');
  for (const group of joinSame(orders)) read.forbidden.push(tellSources(group, group));
  for (const group of joinSame(taken.filter((source) => !isForbidden(source)))) {
    const goingOn = group.filter(({ version }) =>
      ['active', 'on-hold', 'intended', 'unknown'].includes(String(version.resource.status)),
    );
    const lasting = goingOn.filter(({ version }) => !isOver(version.resource, today));
    const standing = lasting.length > 0 ? 'current' : goingOn.length > 0 ? 'unclear' : 'past';
    const deciding = [lasting, goingOn, group].find((some) => some.length > 0) ?? group;
    read[isDead ? 'past' : standing].push(tellSources(group, deciding));
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

/** The codes and the name of medication[x]. */
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

/** Whether the period is over: the end of a Period is inclusive, to the precision that it has. */
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
 * Joins what has a code in common; then what has a name in common, unless codes of one system tell some of it apart: then a
 * name without a code could be either.
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

/** Parts things into groups whose members hang together. */
function join<T>(things: readonly T[], isOne: (one: T, other: T) => boolean): T[][] {
  const groups: T[][] = [];
  for (const thing of things) {
    const found = groups.filter((group) => group.some((other) => isOne(thing, other)));
    for (const group of found) groups.splice(groups.indexOf(group), 1);
    groups.push([...found.flat(), thing]);
  }
  return groups;
}

/** @param deciding the sources that say how things stand: what they call it is shown */
function tellSources(group: readonly Source[], deciding: readonly Source[]): ToldMedicine {
  return {
    name: deciding.map(({ name }) => name ?? '').find((name) => name !== '') ?? '',
    sources: group.map(({ version }) => reference(version)).sort(),
    prescribed: group.flatMap(({ version }) => texts(version.resource, 'authoredOn')).sort(),
  };
}

/** https://hl7.org/fhir/R4/allergyintolerance.html: one without a status isn't known to be over. */
function readAllergies(facts: readonly Version[]): Pick<SecondReading, 'allergies' | 'inactiveAllergies'> {
  const isActive = ({ resource }: Version): boolean =>
    !codesOf(resource, 'clinicalStatus', `${TERMINOLOGY}/allergyintolerance-clinical`).some(
      (code) => code === 'inactive' || code === 'resolved',
    );
  const tell = (each: Version) => ({
    name: nameOf(each.resource, 'code') ?? '',
    sources: [reference(each)],
    isHigh: each.resource.criticality === 'high',
  });
  const active = facts.filter(isActive).map(tell);
  return {
    allergies: [...active.filter(({ isHigh }) => isHigh), ...active.filter(({ isHigh }) => !isHigh)],
    inactiveAllergies: facts.filter((each) => !isActive(each)).map(tell),
  };
}

/** https://hl7.org/fhir/R4/condition.html: without a clinical status, one that has abated is over (con-4). */
function readProblems(facts: readonly Version[]): Pick<SecondReading, 'activeProblems' | 'pastProblems'> {
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
  // One code may stand for many problems (`Disease`): another name or another site is another problem.
  const isOne = (one: Version, other: Version): boolean =>
    certainty(one) === certainty(other) &&
    site(one) === site(other) &&
    fold(nameOf(one.resource, 'code') ?? '') === fold(nameOf(other.resource, 'code') ?? '');
  const tell = (some: readonly Version[]): Told[] =>
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
        date: group.flatMap(({ version }) => texts(version.resource, 'onsetDateTime')).sort()[0],
      }));
  return {
    activeProblems: tell(facts.filter(isActive)),
    pastProblems: tell(facts.filter((each) => !isActive(each))),
  };
}
