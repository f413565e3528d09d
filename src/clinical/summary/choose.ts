/** Chooses a record's resources for its summary, before the directory is read. */
import type { Json } from '#src/shared/json/json.ts';
import { atOnce, mapSteps, type Steps } from '#src/shared/load/slices.ts';
import { dayIn } from '#src/shared/time/day.ts';
import { loincCodes } from '../../fhir/parts.ts';
import { isResourceType, typeEntry } from '../../fhir/types.ts';
import { DATED_BY, happened } from '../reading/dates.ts';
import { referredMedication } from '../reading/medicine-subject.ts';
import { findPressure, type Pressure, systolicFirst } from '../reading/pressure.ts';
import { withdrawnAs } from '../reading/status.ts';
import type { PartOfAi } from '../reading/told.ts';
import { CHANGED_BY_AI, type LeftOut, PLACED_BY, placeInSummary } from './classify.ts';
import type { Look } from './columns.ts';
import { makeDeviceUse } from './device-use.ts';
import { Links } from './entries.ts';
import { type Candidate, CODED_BY, capped, makeCandidate, newestFirst } from './newest.ts';
import { withNames } from './required.ts';
import { SECTIONS, type Section, type SectionName } from './section.ts';
import { glanceAt, parseSource, type Source, type Stored, versionName } from './source.ts';

/** A record from which a summary is generated. */
export interface RecordSource {
  /** Base URL of the FHIR interface, with a trailing slash. */
  readonly base: string;
  readonly patient: Stored;
  /** The current versions of the record's other resources. */
  readonly record: readonly Stored[];
  /** Versions that an AI wrote, which the summary doesn't show. */
  readonly byAi?: AiVersions;
}

/**
 * Versions that an AI wrote, as `Type/id/_history/n`. Each maps to the number of the last earlier version that someone else
 * wrote; undefined if there is none.
 */
export type AiVersions = ReadonlyMap<string, number | undefined>;

/** The last version of a resource before an AI changed it, written by someone else. */
export interface EarlierVersion {
  readonly type: string;
  readonly id: string;
  readonly version: number;
}

/** A section and its resources. */
export interface ChosenSection {
  readonly section: Section;
  /** Newest first. */
  readonly sources: readonly Source[];
  /** The number of resources before the section was limited to its maximum. */
  readonly found: number;
  /** Earlier versions of entries that would also be in the section if an AI hadn't changed them. */
  readonly changed: readonly EarlierVersion[];
  /**
   * Resources that only the section's narrative mentions: medicines that are past or must not be given, and refuted allergies.
   */
  readonly beside: readonly Source[];
  /** True if the record also contains past entries of this kind. */
  readonly hasPast: boolean;
  /** The number of past entries that the section doesn't list; past medicines are in `beside`. */
  readonly past: number;
}

/** An entry in the document, and its section if it is in one. */
export interface Entry {
  readonly source: Source;
  readonly section?: SectionName;
}

/** The resources chosen from a record. */
export interface Chosen {
  readonly subject: Source;
  readonly sections: readonly ChosenSection[];
  readonly leftOut: ReadonlyMap<LeftOut, number>;
  /** By `Type/id`: the Patient, the resources in sections, and the resources of the record that these refer to. */
  readonly entries: ReadonlyMap<string, Entry>;
  /** Directory entries that these resources refer to, as `Type/id`. */
  readonly inDirectory: ReadonlySet<string>;
  /** The number of past entries by section, for sections that the summary doesn't have. */
  readonly pastElsewhere: ReadonlyMap<SectionName, number>;
  /** Directory entries that only narratives mention, as `Type/id`. */
  readonly named: ReadonlySet<string>;
  /**
   * By `Type/id`: the last versions before an AI changed the resources, written by someone else; only the ones that were read.
   */
  readonly earlier: ReadonlyMap<string, Source>;
  readonly links: Links;
  /** Looks up any resource in the record that may be shown. */
  readonly look: Look;
}

/** Types of the record whose resources are included only if an entry refers to them. */
const SUPPORTING = ['Specimen', 'Device', 'RelatedPerson', 'CareTeam', 'Goal'] as const;

/** Types whose resources may be in a section. */
const LISTED = [
  'Condition',
  'AllergyIntolerance',
  'MedicationStatement',
  'MedicationRequest',
  'Immunization',
  'Observation',
  'DiagnosticReport',
  'Procedure',
  'Device',
  'CarePlan',
  'DocumentReference',
] as const;

/** All types of the record that a summary may include, except Patient. */
export const SUMMARIZED_TYPES = [...new Set([...LISTED, ...SUPPORTING])];

const NONE: AiVersions = new Map();

/** Chooses a summary's resources without pauses. */
export function choose(record: RecordSource): Chosen {
  return atOnce(chooseInSteps(record));
}

/** Chooses a summary's resources in steps, one per resource. */
export function* chooseInSteps({ base, patient, record, byAi = NONE }: RecordSource): Steps<Chosen> {
  const subject = withNames(parseSource(patient));
  const { placed, leftOut, changed, beside, refuted, past } = yield* placedIn(record, byAi);
  const pastElsewhere = new Map(past);
  const links = new Links(base);
  const look = lookupIn(record, byAi);
  const entries = new Map<string, Entry>([[subject.key, { source: subject }]]);
  const sections: ChosenSection[] = [];
  for (const section of SECTIONS) {
    const all = placed.get(section.name) ?? [];
    const was = changed.get(section.name) ?? [];
    if (all.length === 0 && was.length === 0 && section.empty === undefined) continue;
    const read = yield* mapSteps(capped(all, section.cap ?? all.length), ({ stored }) =>
      stored.type === 'Device' ? makeDeviceUse(stored, subject, base) : parseSource(stored),
    );
    const isMeasured = section.name === 'vitalSigns' || section.name === 'results';
    const sources = isMeasured ? systolicFirst(read, readPressure) : read;
    for (const source of sources) entries.set(source.key, { source, section: section.name });
    pastElsewhere.delete(section.name);
    sections.push({
      section,
      sources,
      found: all.length,
      changed: was,
      beside: section.name === 'medications' ? beside : section.name === 'allergies' ? refuted : [],
      hasPast: past.has(section.name) || (section.name === 'problems' && placed.has('pastProblems')),
      past: section.name === 'medications' ? 0 : (past.get(section.name) ?? 0),
    });
  }
  const inDirectory = yield* supported(entries, links, look);
  const named = new Set(beside.flatMap(({ value }) => referredMedication(value) ?? []));
  return {
    ...{ subject, sections, leftOut, pastElsewhere, entries, inDirectory, named },
    ...{ earlier: new Map(), links, look },
  };
}

function readPressure(source: Source): Pressure | undefined {
  return findPressure(loincCodes(source.value.code), () => dayIn(happened(source).date ?? ''));
}

/**
 * Adds the resources of the record that entries refer to.
 * @returns the directory entries that these resources refer to
 */
function* supported(entries: Map<string, Entry>, links: Links, look: Look): Steps<Set<string>> {
  const inDirectory = new Set<string>();
  const referred = new Set<string>();
  for (const { source } of entries.values()) {
    links.addReferred(source, referred);
    yield;
  }
  // Iterating over a Set also visits items added during the iteration, so references in added resources are followed too.
  for (const key of referred) {
    const [type = ''] = key.split('/');
    if (isInDirectory(type)) inDirectory.add(key);
    if (entries.has(key) || !(SUPPORTING as readonly string[]).includes(type)) continue;
    const source = look(key);
    yield;
    if (source === undefined) continue;
    entries.set(key, { source });
    links.addReferred(source, referred);
  }
  return inDirectory;
}

function isInDirectory(type: string): boolean {
  return isResourceType(type) && ['directory', 'either'].includes(typeEntry(type).home);
}

/**
 * Returns a lookup by `Type/id`; a resource is parsed when it is first requested. Withdrawn resources aren't found.
 * @param hidden versions that aren't found either, as `Type/id/_history/n`.
 */
export function lookupIn(all: readonly Stored[], hidden: AiVersions = NONE): Look {
  const stored = new Map(all.map((each) => [each.id, each]));
  const read = new Map<string, Source | undefined>();
  return (key) => {
    if (read.has(key)) return read.get(key);
    const [type, id = ''] = key.split('/');
    const there = stored.get(id);
    if (there === undefined || there.type !== type) return undefined;
    const source = parseSource(there);
    const isShown = withdrawnAs(source.value) === undefined && partOfAi(source, hidden) === 'no';
    const found = isShown ? withNames(source) : undefined;
    read.set(key, found);
    return found;
  };
}

/** Returns an AI's part in the current version of a resource. */
function partOfAi(source: Source, byAi: AiVersions): PartOfAi {
  const name = byAi.size === 0 ? undefined : versionName(source);
  if (name === undefined || !byAi.has(name)) return 'no';
  return byAi.get(name) === undefined ? 'written' : 'changed';
}

interface Placed {
  /** Candidates by section, in the order of sections. */
  readonly placed: ReadonlyMap<SectionName, readonly Candidate[]>;
  readonly leftOut: ReadonlyMap<LeftOut, number>;
  /** Entries in the version before an AI changed them, by the section that they would be in. */
  readonly changed: ReadonlyMap<SectionName, readonly EarlierVersion[]>;
  /** Medicines that the narrative mentions although they aren't entries. */
  readonly beside: readonly Source[];
  /** Allergies that somebody refuted. */
  readonly refuted: readonly Source[];
  /** The number of additional entries that each section would have if entries hadn't ended, or if there were no newer ones. */
  readonly past: ReadonlyMap<SectionName, number>;
}

const HAVE_SECTIONS: ReadonlySet<string> = new Set(LISTED);

/** The members that the choice depends on, because they determine the section, the date and the code. */
const CHOSEN_BY: ReadonlySet<string> = new Set([...PLACED_BY, ...DATED_BY, ...CODED_BY]);
/** The same members, and the version, for records in which an AI wrote some versions. */
const CHOSEN_BY_VERSION: ReadonlySet<string> = new Set(['meta', ...CHOSEN_BY]);
/** Members of past medicines that determine which medicine it is, when it was prescribed and taken, and how it was taken. */
const PAST_BY: ReadonlySet<string> = new Set([
  ...['status', 'medicationCodeableConcept', 'medicationReference', 'contained', 'dateAsserted'],
  ...['intent', 'statusReason', 'meta', 'dosage', 'dosageInstruction', 'priorPrescription', 'category'],
  ...['reportedBoolean', 'reportedReference'],
  ...DATED_BY,
]);

function* placedIn(record: readonly Stored[], byAi: AiVersions): Steps<Placed> {
  const placed = new Map<SectionName, Candidate[]>();
  const leftOut = new Map<LeftOut, number>();
  const changed = new Map<SectionName, EarlierVersion[]>();
  const medicines: { readonly stored: Stored; readonly isForbidden: boolean }[] = [];
  const refuted: Source[] = [];
  const past = new Map<SectionName, number>();
  const known = new Map<string, Json>();
  for (const stored of record) {
    if (!HAVE_SECTIONS.has(stored.type)) continue;
    yield;
    const source = glanceAt(stored, byAi.size === 0 ? CHOSEN_BY : CHOSEN_BY_VERSION, known);
    const part = partOfAi(source, byAi);
    const place = placeInSummary(source, part);
    if (place === undefined) continue;
    if ('leftOut' in place) {
      leftOut.set(place.leftOut, (leftOut.get(place.leftOut) ?? 0) + 1);
      if (place.leftOut === 'refuted' && part === 'no' && stored.type === 'AllergyIntolerance')
        refuted.push(parseSource(stored));
      const version = byAi.get(versionName(source) ?? '');
      if (place.leftOut === CHANGED_BY_AI && place.section !== undefined && version !== undefined)
        addTo(changed, place.section, { type: stored.type, id: stored.id, version });
      continue;
    }
    if (!place.isEntry) {
      const isForbidden = source.value.doNotPerform === true;
      if (!isForbidden) past.set(place.section, (past.get(place.section) ?? 0) + 1);
      if (place.section === 'medications') medicines.push({ stored, isForbidden });
      continue;
    }
    addTo(placed, place.section, makeCandidate(stored, source, place.single));
  }
  for (const [section, candidates] of placed) {
    const kept = singles(newestFirst(candidates));
    placed.set(section, kept);
    if (kept.length < candidates.length) past.set(section, candidates.length - kept.length);
  }
  const beside = yield* mapSteps(medicines, ({ stored, isForbidden }) =>
    isForbidden ? parseSource(stored) : glanceAt(stored, PAST_BY, known),
  );
  return { placed, leftOut, changed, beside, refuted, past };
}

function addTo<Key, Item>(lists: Map<Key, Item[]>, key: Key, item: Item): void {
  if (lists.get(key)?.push(item) === undefined) lists.set(key, [item]);
}

/** Returns the candidates. Of candidates with the same `single`, only the newest is returned. */
function singles(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>();
  return candidates.filter(({ single }) => {
    if (single === undefined) return true;
    const isNewest = !seen.has(single);
    seen.add(single);
    return isNewest;
  });
}
