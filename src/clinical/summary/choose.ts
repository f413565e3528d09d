/** Chooses the resources of a record for its summary, before the directory is read. */
import type { Json } from '#src/shared/json.ts';
import { atOnce, mapSteps, type Steps } from '#src/shared/slices.ts';
import { isResourceType, typeEntry } from '../../fhir/types.ts';
import { DATED_BY } from '../reading/dates.ts';
import { withdrawnAs } from '../reading/status.ts';
import type { PartOfAi } from '../reading/told.ts';
import { CHANGED_BY_AI, type LeftOut, PLACED_BY, placeOf } from './classify.ts';
import type { Look } from './columns.ts';
import { useOf } from './device-use.ts';
import { Links } from './entries.ts';
import { type Candidate, CODED_BY, candidateOf, capped, newestFirst } from './newest.ts';
import { withNames } from './required.ts';
import { SECTIONS, type Section, type SectionName } from './section.ts';
import { glanceAt, type Source, type Stored, sourceOf, versionNameOf } from './source.ts';

/** A record from which a summary is made. */
export interface RecordSource {
  /** Base URL of the FHIR interface, with a slash at its end. */
  readonly base: string;
  readonly patient: Stored;
  /** The rest of the record, in current versions. */
  readonly record: readonly Stored[];
  /**
   * Versions that an AI wrote, as `Type/id/_history/n`, each with whether somebody else had written an earlier one: the
   * summary doesn't show them.
   */
  readonly byAi?: ReadonlyMap<string, boolean>;
}

/** A section and its resources. */
export interface ChosenSection {
  readonly section: Section;
  /** Newest first. */
  readonly sources: readonly Source[];
  /** How many there were before the section was cut to its cap. */
  readonly found: number;
  /** How many more would be in it, had an AI not changed them. */
  readonly changed: number;
}

/** An entry of the document, with its section, if any. */
export interface Entry {
  readonly source: Source;
  readonly section?: SectionName;
}

/** The selection from a record. */
export interface Chosen {
  readonly subject: Source;
  readonly sections: readonly ChosenSection[];
  readonly leftOut: ReadonlyMap<LeftOut, number>;
  /** By `Type/id`: the Patient, the resources in sections, and the resources of the record that these refer to. */
  readonly entries: ReadonlyMap<string, Entry>;
  /** Directory entries that these refer to, as `Type/id`. */
  readonly inDirectory: ReadonlySet<string>;
  readonly links: Links;
  /** Looks up any resource of the record that may be shown. */
  readonly look: Look;
}

/** Types of the record that are included only if an entry refers to them. */
const SUPPORTING = ['Specimen', 'Device', 'RelatedPerson', 'CareTeam', 'Goal'] as const;

/** Types whose resources may have a section. */
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

/** Types of the record that a summary may include, except Patient. */
export const SUMMARIZED_TYPES = [...new Set([...LISTED, ...SUPPORTING])];

const NONE: ReadonlyMap<string, boolean> = new Map();

/** Chooses the resources of a summary without pauses. */
export function choose(record: RecordSource): Chosen {
  return atOnce(chooseInSteps(record));
}

/** Chooses the resources of a summary in steps, one resource each. */
export function* chooseInSteps({ base, patient, record, byAi = NONE }: RecordSource): Steps<Chosen> {
  const subject = withNames(sourceOf(patient));
  const { placed, leftOut, changed } = yield* placedIn(record, byAi);
  const links = new Links(base);
  const look = lookupIn(record, byAi);
  const entries = new Map<string, Entry>([[subject.key, { source: subject }]]);
  const sections: ChosenSection[] = [];
  for (const section of SECTIONS) {
    const all = placed.get(section.name) ?? [];
    if (all.length === 0 && section.empty === undefined) continue;
    const sources = yield* mapSteps(capped(all, section.cap ?? all.length), ({ stored }) =>
      stored.type === 'Device' ? useOf(stored, subject, base) : sourceOf(stored),
    );
    for (const source of sources) entries.set(source.key, { source, section: section.name });
    sections.push({ section, sources, found: all.length, changed: changed.get(section.name) ?? 0 });
  }
  const inDirectory = yield* supported(entries, links, look);
  return { subject, sections, leftOut, entries, inDirectory, links, look };
}

/**
 * Adds the resources of the record that entries refer to.
 * @returns the directory entries that they refer to
 */
function* supported(entries: Map<string, Entry>, links: Links, look: Look): Steps<Set<string>> {
  const inDirectory = new Set<string>();
  const referred = new Set<string>();
  for (const { source } of entries.values()) {
    links.addReferred(source, referred);
    yield;
  }
  // Iterating a Set includes items added meanwhile, so references of added resources are followed too.
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
 * Returns a lookup by `Type/id`; each resource is parsed when first asked for. Withdrawn resources are not found.
 * @param hidden versions that are not found either, as `Type/id/_history/n`.
 */
export function lookupIn(all: readonly Stored[], hidden: ReadonlyMap<string, boolean> = NONE): Look {
  const stored = new Map(all.map((each) => [each.id, each]));
  const read = new Map<string, Source | undefined>();
  return (key) => {
    if (read.has(key)) return read.get(key);
    const [type, id = ''] = key.split('/');
    const there = stored.get(id);
    if (there === undefined || there.type !== type) return undefined;
    const source = sourceOf(there);
    const isShown = withdrawnAs(source.value) === undefined && partOfAi(source, hidden) === 'no';
    const found = isShown ? withNames(source) : undefined;
    read.set(key, found);
    return found;
  };
}

/** Returns what an AI has to do with this version of a resource. */
function partOfAi(source: Source, byAi: ReadonlyMap<string, boolean>): PartOfAi {
  const name = byAi.size === 0 ? undefined : versionNameOf(source);
  const isChange = name === undefined ? undefined : byAi.get(name);
  return isChange === undefined ? 'no' : isChange ? 'changed' : 'written';
}

interface Placed {
  /** Candidates by section, in the order of the sections. */
  readonly placed: ReadonlyMap<SectionName, readonly Candidate[]>;
  readonly leftOut: ReadonlyMap<LeftOut, number>;
  /** Resources that an AI changed, by the section that they would have. */
  readonly changed: ReadonlyMap<SectionName, number>;
}

const HAVE_SECTIONS: ReadonlySet<string> = new Set(LISTED);

/** Members that the choice reads: those that decide the section, the date and the code. */
const CHOSEN_BY: ReadonlySet<string> = new Set([...PLACED_BY, ...DATED_BY, ...CODED_BY]);
/** The same members with the version, for records in which an AI wrote some versions. */
const CHOSEN_BY_VERSION: ReadonlySet<string> = new Set(['meta', ...CHOSEN_BY]);

function* placedIn(record: readonly Stored[], byAi: ReadonlyMap<string, boolean>): Steps<Placed> {
  const placed = new Map<SectionName, Candidate[]>();
  const leftOut = new Map<LeftOut, number>();
  const changed = new Map<SectionName, number>();
  const known = new Map<string, Json>();
  for (const stored of record) {
    if (!HAVE_SECTIONS.has(stored.type)) continue;
    yield;
    const source = glanceAt(stored, byAi.size === 0 ? CHOSEN_BY : CHOSEN_BY_VERSION, known);
    const place = placeOf(source, partOfAi(source, byAi));
    if (place === undefined) continue;
    if ('leftOut' in place) {
      leftOut.set(place.leftOut, (leftOut.get(place.leftOut) ?? 0) + 1);
      if (place.leftOut === CHANGED_BY_AI && place.section !== undefined)
        changed.set(place.section, (changed.get(place.section) ?? 0) + 1);
      continue;
    }
    const there = placed.get(place.section);
    const candidate = candidateOf(stored, source, place.single);
    if (there === undefined) placed.set(place.section, [candidate]);
    else there.push(candidate);
  }
  for (const [section, candidates] of placed) placed.set(section, singles(newestFirst(candidates)));
  return { placed, leftOut, changed };
}

/** Returns the candidates without older ones where the section takes only the newest with the same `single`. */
function singles(candidates: readonly Candidate[]): Candidate[] {
  const seen = new Set<string>();
  return candidates.filter(({ single }) => {
    if (single === undefined) return true;
    const isNewest = !seen.has(single);
    seen.add(single);
    return isNewest;
  });
}
