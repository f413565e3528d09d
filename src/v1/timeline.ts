/** What the timeline of REST v1 says of a resource (docs/spec/decisions.md, section 4). Pure. */
import type { Json, JsonObject } from '#src/shared/json.ts';
import { codes, first, objects, text } from '../fhir/ips/parts.ts';
import { choice, concept, dosage, joined } from '../fhir/ips/words.ts';
import type { SystemCode } from '../fhir/terminology.ts';
import { ATC, ICD_10, LOINC } from './elements.ts';
import { medicationConcept } from './medication.ts';

/** The kinds of entries, the four of docs/spec/interface.md, section 2.3, first: each is a type's. */
export const TIMELINE = {
  document: 'DocumentReference',
  observation: 'Observation',
  medication: 'MedicationStatement',
  condition: 'Condition',
  encounter: 'Encounter',
  procedure: 'Procedure',
  immunization: 'Immunization',
  allergy: 'AllergyIntolerance',
  report: 'DiagnosticReport',
  care_plan: 'CarePlan',
  goal: 'Goal',
} as const;

/** One of them. */
export type TimelineKind = keyof typeof TIMELINE;
/** A type that the timeline shows. */
export type TimelineType = (typeof TIMELINE)[TimelineKind];

/** All of them. */
export const TIMELINE_KINDS = Object.keys(TIMELINE) as readonly TimelineKind[];
/** Those that are shown when nobody asks for others. */
export const DEFAULT_KINDS: readonly TimelineKind[] = ['document', 'observation', 'medication', 'condition'];

const KIND_OF = new Map<string, TimelineKind>(TIMELINE_KINDS.map((kind) => [TIMELINE[kind], kind]));

/** The kind of a type's entries; undefined when the timeline does not show it. */
export function kindOf(type: string): TimelineKind | undefined {
  return KIND_OF.get(type);
}

/** An entry's words. */
export interface TimelineWords {
  /** The code, if what the entry is about has a code and no words. */
  readonly title: string;
  /** The code system of such a title, by which the terminology that is here may name it; null for other titles. */
  readonly titleSystem: string | null;
  /** What it found, how it stands; null when the resource says no more. */
  readonly summary: string | null;
}

type Words = (resource: JsonObject) => readonly [title: string | undefined, summary: string | undefined];

const WORDS: Readonly<Record<TimelineKind, Words>> = {
  document: (it) => {
    const type = concept(it.type);
    const title = text(first(first(it.content)?.attachment)?.title) ?? text(it.description) ?? type;
    return [
      title,
      joined([
        unless(it.status, 'current'),
        unless(it.docStatus, 'final'),
        type === title ? undefined : type,
      ]),
    ];
  },
  observation: (it) => [
    concept(it.code),
    joined([unless(it.status, 'final', 'amended', 'corrected'), valuesOf(it)]),
  ],
  medication: (it) => [
    concept(medicationConcept(it)) ?? text(first(it.medicationReference)?.display),
    joined([text(it.status), dosage(it.dosage)]),
  ],
  condition: (it) => [
    concept(it.code),
    joined([...codes(it.clinicalStatus), ...codes(it.verificationStatus).filter((is) => is !== 'confirmed')]),
  ],
  encounter: (it) => [
    concept(it.type) ?? text(first(it.class)?.display) ?? text(first(it.class)?.code),
    joined([unless(it.status, 'finished'), concept(it.reasonCode)]),
  ],
  procedure: (it) => [
    concept(it.code),
    joined([unless(it.status, 'completed'), concept(it.outcome), concept(it.bodySite)]),
  ],
  immunization: (it) => [
    concept(it.vaccineCode),
    joined([unless(it.status, 'completed'), concept(it.statusReason)]),
  ],
  allergy: (it) => [
    concept(it.code),
    joined([
      ...codes(it.clinicalStatus),
      ...codes(it.verificationStatus).filter((is) => is !== 'confirmed'),
      ...objects(it.reaction).map(({ manifestation }) => concept(manifestation)),
    ]),
  ],
  report: (it) => [
    concept(it.code),
    joined([unless(it.status, 'final', 'amended', 'corrected', 'appended'), text(it.conclusion)]),
  ],
  care_plan: (it) => [
    text(it.title) ?? concept(it.category) ?? text(it.description),
    joined([text(it.status), text(it.intent)]),
  ],
  goal: (it) => [concept(it.description), joined([text(it.lifecycleStatus), concept(it.achievementStatus)])],
};

/** The concept that makes a kind's title where the resource has no other words for it. */
const NAMED_BY: Readonly<Record<TimelineKind, (resource: JsonObject) => Json | undefined>> = {
  document: ({ type }) => type,
  observation: ({ code }) => code,
  medication: medicationConcept,
  condition: ({ code }) => code,
  encounter: ({ type }) => type,
  procedure: ({ code }) => code,
  immunization: ({ vaccineCode }) => vaccineCode,
  allergy: ({ code }) => code,
  report: ({ code }) => code,
  care_plan: ({ category }) => category,
  goal: ({ description }) => description,
};

/** Code systems whose codes name an entry rather than a local code beside them. */
const PREFERRED: ReadonlySet<string> = new Set([LOINC, ATC, ICD_10]);

/** The code of a concept that has no words; undefined where it has, or where there are several concepts. */
function bareCode(value: Json | undefined): SystemCode | undefined {
  const [only, ...others] = objects(value);
  if (only === undefined || others.length > 0 || text(only.text) !== undefined) return undefined;
  const all = objects(only.coding);
  if (all.some(({ display }) => text(display) !== undefined)) return undefined;
  const named = all.flatMap(({ system: by, code }): SystemCode[] => {
    const [system, is] = [text(by), text(code)];
    return system === undefined || is === undefined ? [] : [{ system, code: is }];
  });
  return named.find(({ system }) => PREFERRED.has(system)) ?? named[0];
}

/** A status that is worth a word. */
function unless(status: JsonObject[string] | undefined, ...usual: readonly string[]): string | undefined {
  const said = text(status);
  return said === undefined || usual.includes(said) ? undefined : said;
}

/** An Observation's value, or those of its components with their names. */
function valuesOf(observation: JsonObject): string | undefined {
  const parts = objects(observation.component).map((part) =>
    joined([concept(part.code), choice(part, 'value')], ' '),
  );
  return joined([choice(observation, 'value') ?? concept(observation.dataAbsentReason), ...parts]);
}

/** The title of a medication that is named by the Medication which it refers to; undefined when that has no name. */
export function medicationTitle({
  code,
}: JsonObject): Pick<TimelineWords, 'title' | 'titleSystem'> | undefined {
  const named = concept(code);
  return named === undefined ? undefined : titleOf(named, code);
}

function titleOf(said: string, by: Json | undefined): Pick<TimelineWords, 'title' | 'titleSystem'> {
  const bare = bareCode(by);
  // Where other elements name the entry, its title is none of the codes.
  const isCode = bare !== undefined && codes(by).includes(said);
  return isCode
    ? { title: cut(bare.code), titleSystem: bare.system }
    : { title: cut(said), titleSystem: null };
}

/** Most characters of a title or summary: an entry is one line of a list. */
const LONGEST = 300;

/** What an entry says. */
export function timelineWords(kind: TimelineKind, resource: JsonObject): TimelineWords {
  const [title, summary] = WORDS[kind](resource);
  return {
    ...titleOf(title ?? kind.replace('_', ' '), NAMED_BY[kind](resource)),
    summary: summary === undefined ? null : cut(summary),
  };
}

function cut(said: string): string {
  const characters = [...said];
  return characters.length <= LONGEST ? said : `${characters.slice(0, LONGEST - 1).join('')}…`;
}
