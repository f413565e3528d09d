/**
 * The International Patient Summary of a record, as a document Bundle that is valid against IPS 2.0.0:
 * https://hl7.org/fhir/uv/ips/STU2/. docs/summary.md has its rules in words. Pure: the same record at the same moment
 * under the same id gives the same text.
 */
import { type JsonObject, printJson } from '#src/shared/json.ts';
import { type Micros, toInstant } from '#src/shared/time.ts';
import { isResourceType, typeEntry } from '../types.ts';
import { type LeftOut, placeOf, withdrawnAs } from './classify.ts';
import type { Look } from './columns.ts';
import { authorDevice, composition, custodian, derivedId, type Filled } from './composition.ts';
import { entryText, Links } from './entries.ts';
import { sectionNarrative } from './narrative.ts';
import { type Candidate, candidateOf, capped, newestFirst } from './newest.ts';
import { missingMembers, UNKNOWN, withNames } from './required.ts';
import { SECTIONS, type SectionName } from './section.ts';
import { glanceAt, type Source, type Stored, sourceOf } from './source.ts';

/** What a summary is made of. */
export interface Summarized {
  /** The document's own id, a UUID. */
  readonly id: string;
  /** When it is made. */
  readonly now: Micros;
  /** Base URL of the FHIR interface, slash at its end. */
  readonly base: string;
  readonly patient: Stored;
  /** The rest of the record, current versions. */
  readonly record: readonly Stored[];
  /** The directory entries that it refers to, and those that these refer to. */
  readonly directory: readonly Stored[];
}

/** Types of the record that are in the document because an entry refers to them. */
const SUPPORTING: ReadonlySet<string> = new Set(['Specimen', 'Device', 'RelatedPerson', 'CareTeam', 'Goal']);

/** Types whose resources may have a section. */
export const SUMMARIZED_TYPES = [
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

/** The JSON text of the document. */
export function summaryDocument({ id, now, base, patient, record, directory }: Summarized): string {
  const subject = withNames(sourceOf(patient));
  const { placed, leftOut } = placedIn(record);
  const links = new Links(base);
  const stored = new Map([...record, ...directory].map((each) => [each.id, each]));
  const look = looking(stored);

  const entries = new Map<string, { readonly source: Source; readonly section?: SectionName }>();
  const enter = (source: Source, section?: SectionName): void => {
    if (!entries.has(source.key))
      entries.set(source.key, { source, ...(section === undefined ? {} : { section }) });
  };
  const urlOf = ({ key, type, id: own }: Source): string =>
    type === 'DeviceUseStatement' ? `urn:uuid:${own}` : base + key;
  const read = (each: Stored): Source =>
    each.type === 'Device' ? useOf(each, subject, base) : (look(`${each.type}/${each.id}`) ?? sourceOf(each));

  enter(subject);
  const sections = SECTIONS.flatMap((section): Filled[] => {
    const all = placed.get(section.name) ?? [];
    if (all.length === 0 && section.empty === undefined) return [];
    const chosen = capped(all, section.cap ?? all.length).map((candidate) => read(candidate.stored));
    for (const source of chosen) enter(source, section.name);
    const text = sectionNarrative(section, chosen, all.length, (reference) =>
      look(links.keyOf(reference) ?? ''),
    );
    return [{ section, text, entries: chosen.map(urlOf) }];
  });
  // A Set gives what is added while it is walked: what comes in brings in what it refers to.
  const referred = new Set<string>();
  for (const { source } of entries.values()) links.addReferred(source, referred);
  for (const key of referred) {
    const found = entries.has(key) ? undefined : look(key);
    if (found === undefined || !isSupporting(found)) continue;
    enter(found);
    links.addReferred(found, referred);
  }

  const made = { id, now, base, patient: subject.value, patientUrl: base + subject.key, sections, leftOut };
  const author = authorDevice(base);
  const keeper = custodian(base);
  const inside = (key: string): boolean => entries.has(key);
  const texts = [
    own(composition(made)),
    ...[...entries.values()].map(({ source, section }) => {
      const added = missingMembers(source, section);
      return `{"fullUrl":"${urlOf(source)}","resource":${entryText(source, added, inside, links)}}`;
    }),
    own(author),
    own(keeper),
  ];
  const identifier = `{"system":"urn:ietf:rfc:3986","value":"urn:uuid:${id}"}`;
  return `{"resourceType":"Bundle","id":"${id}","identifier":${identifier},"type":"document","timestamp":"${toInstant(now)}","entry":[${texts.join(',')}]}`;
}

/** An entry of a resource that exists in the document alone. */
function own(resource: JsonObject): string {
  return `{"fullUrl":"urn:uuid:${String(resource.id)}","resource":${printJson(resource)}}`;
}

/** Whether a resource is an entry when another refers to it: what is in the directory, and some of the record. */
function isSupporting({ type }: Source): boolean {
  return SUPPORTING.has(type) || (isResourceType(type) && typeEntry(type).home === 'directory');
}

/** Looks resources up, each read when it is first asked for. What was withdrawn is not found. */
function looking(stored: ReadonlyMap<string, Stored>): Look {
  const read = new Map<string, Source | undefined>();
  return (key) => {
    if (read.has(key)) return read.get(key);
    const [type, id = ''] = key.split('/');
    const there = stored.get(id);
    if (there === undefined || there.type !== type) return undefined;
    const source = sourceOf(there);
    const found = withdrawnAs(source) === undefined ? withNames(source) : undefined;
    read.set(key, found);
    return found;
  };
}

interface Placed {
  /** In the order of their sections. */
  readonly placed: ReadonlyMap<SectionName, readonly Candidate[]>;
  readonly leftOut: ReadonlyMap<LeftOut, number>;
}

const LISTED: ReadonlySet<string> = new Set(SUMMARIZED_TYPES);

function placedIn(record: readonly Stored[]): Placed {
  const placed = new Map<SectionName, (Candidate & { readonly single?: string })[]>();
  const leftOut = new Map<LeftOut, number>();
  for (const stored of record) {
    if (!LISTED.has(stored.type)) continue;
    const source = glanceAt(stored);
    const place = placeOf(source);
    if (place === undefined) continue;
    if ('leftOut' in place) {
      leftOut.set(place.leftOut, (leftOut.get(place.leftOut) ?? 0) + 1);
      continue;
    }
    const { section, ...single } = place;
    const there = placed.get(section);
    const candidate = { ...candidateOf(stored, source), ...single };
    if (there === undefined) placed.set(section, [candidate]);
    else there.push(candidate);
  }
  return {
    placed: new Map([...placed].map(([section, candidates]) => [section, singles(newestFirst(candidates))])),
    leftOut,
  };
}

/** Without those of which the section takes one and has a newer. */
function singles<C extends Candidate & { readonly single?: string }>(candidates: readonly C[]): C[] {
  const seen = new Set<string>();
  return candidates.filter(({ single }) => {
    if (single === undefined) return true;
    const isNewest = !seen.has(single);
    seen.add(single);
    return isNewest;
  });
}

/** The section of devices takes no Device, but a statement that the patient uses one: which is what Device.patient says. */
function useOf({ id: device }: Stored, patient: Source, base: string): Source {
  const id = derivedId(`Device/${device}#use`);
  const use: JsonObject = {
    resourceType: 'DeviceUseStatement',
    id,
    status: 'active',
    subject: { reference: base + patient.key },
    _timingDateTime: UNKNOWN,
    device: { reference: `${base}Device/${device}` },
  };
  return {
    key: `DeviceUseStatement/${id}`,
    type: 'DeviceUseStatement',
    id,
    body: printJson(use),
    value: use,
  };
}
