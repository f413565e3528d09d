/** What the timeline of REST v1 says of a resource (decisions.md, section 4). Pure. */
import type { JsonObject } from '#src/shared/json.ts';
import { codes, first, objects, text } from '../ips/parts.ts';
import { choice, concept, dosage, joined } from '../ips/words.ts';
import { medicationConcept } from './medication.ts';

/** The kinds of entries, the four of interface.md 2.3 first: each is a type's. */
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
  readonly title: string;
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
export function medicationTitle({ code }: JsonObject): string | undefined {
  const named = concept(code);
  return named === undefined ? undefined : cut(named);
}

/** Most characters of a title or summary: an entry is one line of a list. */
const LONGEST = 300;

/** What an entry says. */
export function timelineWords(kind: TimelineKind, resource: JsonObject): TimelineWords {
  const [title, summary] = WORDS[kind](resource);
  return {
    title: cut(title ?? kind.replace('_', ' ')),
    summary: summary === undefined ? null : cut(summary),
  };
}

function cut(said: string): string {
  const characters = [...said];
  return characters.length <= LONGEST ? said : `${characters.slice(0, LONGEST - 1).join('')}…`;
}
