/** The timeline entries of REST v1 (docs/spec/decisions.md, section 4). Pure. */
import type { Json, JsonObject } from '#src/shared/json.ts';
import { codes, first, objects, text } from '../fhir/ips/parts.ts';
import { choice, concept, dosage, joined } from '../fhir/ips/words.ts';
import type { SystemCode } from '../fhir/terminology.ts';
import { ATC, ICD_10, LOINC } from './elements.ts';
import { medicationConcept } from './medication.ts';

/** Kinds of entries with their types; the four of docs/spec/interface.md, section 2.3, come first. */
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

/** A kind. */
export type TimelineKind = keyof typeof TIMELINE;
/** A type that the timeline shows. */
export type TimelineType = (typeof TIMELINE)[TimelineKind];

/** All kinds. */
export const TIMELINE_KINDS = Object.keys(TIMELINE) as readonly TimelineKind[];
/** The kinds shown by default. */
export const DEFAULT_KINDS: readonly TimelineKind[] = ['document', 'observation', 'medication', 'condition'];

const KIND_OF = new Map<string, TimelineKind>(TIMELINE_KINDS.map((kind) => [TIMELINE[kind], kind]));

/** Returns the kind of a type's entries; undefined when the timeline doesn't show the type. */
export function kindOf(type: string): TimelineKind | undefined {
  return KIND_OF.get(type);
}

/** The texts of an entry. */
export interface TimelineWords {
  /** The title; the code itself if the subject has a code and no text. */
  readonly title: string;
  /** The code system if the title is a code, so that the terminology can name it; otherwise null. */
  readonly titleSystem: string | null;
  /** The result or status; null if the resource has neither. */
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

/** The concept that a kind's title is taken from when the resource has no other text. */
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

/** Code systems that are preferred to local codes. */
const PREFERRED: ReadonlySet<string> = new Set([LOINC, ATC, ICD_10]);

/** Returns the code of a concept without text; undefined if there is text, or several concepts. */
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

/** Returns a status unless it is a usual one. */
function unless(status: JsonObject[string] | undefined, ...usual: readonly string[]): string | undefined {
  const said = text(status);
  return said === undefined || usual.includes(said) ? undefined : said;
}

/** Returns an Observation's value, or the values of its components with their names. */
function valuesOf(observation: JsonObject): string | undefined {
  const parts = objects(observation.component).map((part) =>
    joined([concept(part.code), choice(part, 'value')], ' '),
  );
  return joined([choice(observation, 'value') ?? concept(observation.dataAbsentReason), ...parts]);
}

/** Returns the title of a medication whose name comes from a referenced Medication; undefined if that has no name. */
export function medicationTitle({
  code,
}: JsonObject): Pick<TimelineWords, 'title' | 'titleSystem'> | undefined {
  const named = concept(code);
  return named === undefined ? undefined : titleOf(named, code);
}

function titleOf(said: string, by: Json | undefined): Pick<TimelineWords, 'title' | 'titleSystem'> {
  const bare = bareCode(by);
  // If other elements name the entry, the title is not a code.
  const isCode = bare !== undefined && codes(by).includes(said);
  return isCode
    ? { title: cut(bare.code), titleSystem: bare.system }
    : { title: cut(said), titleSystem: null };
}

/** Most characters of a title or summary, since an entry is one line of a list. */
const LONGEST = 300;

/** Returns the texts of an entry. */
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
