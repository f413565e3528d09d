/**
 * The timeline entries of REST v1, and the date on which the event in each entry happened or began (docs/spec/decisions.md,
 * section 4). Pure.
 */

import { reactionCause, reactionSubstances } from '#src/clinical/reading/allergies.ts';
import { happened, type Meaning } from '#src/clinical/reading/dates.ts';
import { codesToName, nameConcept } from '#src/clinical/reading/names/name.ts';
import { subpotentText } from '#src/clinical/reading/vaccinations.ts';
import { choice, dosage } from '#src/clinical/reading/words.ts';
import { codes, first, objects, text } from '#src/fhir/parts.ts';
import { parsePeriod } from '#src/fhir/search/period.ts';
import type { SystemCode } from '#src/fhir/terminology.ts';
import type { Json, JsonObject } from '#src/shared/json/json.ts';
import { type Days, readDays } from '#src/shared/time/day.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { medicationConcept } from './medication.ts';
import { conceptPhrase, cutLine, cutPhrase, joinPhrases, type Phrase, type PlacedCode } from './phrase.ts';

/** A date as written in the resource, and its first microsecond, for sorting. A date without an offset is treated as UTC. */
export interface EventDate {
  readonly date: string;
  readonly at: Micros;
  readonly means: Meaning;
  /** The days that the date stands for. */
  readonly days: Days;
}

/** Returns a resource's date; undefined if it has none. The date of a Period is its start or, without a start, its end. */
export function readEventDate(type: string, value: JsonObject): EventDate | undefined {
  const { date, means } = happened({ type, value });
  const period = date === null ? undefined : parsePeriod(date);
  return date === null || period === undefined
    ? undefined
    : { date, at: period.from, means, days: readDays(date) };
}

/** Kinds of entries, with their types. The four kinds from docs/spec/interface.md, section 2.3, come first. */
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
  prescription: 'MedicationRequest',
} as const;

export type TimelineKind = keyof typeof TIMELINE;
/** A type that the timeline shows. */
export type TimelineType = (typeof TIMELINE)[TimelineKind];

/** All kinds. */
export const TIMELINE_KINDS = Object.keys(TIMELINE) as readonly TimelineKind[];
/** The kinds that are shown by default. */
export const DEFAULT_KINDS: readonly TimelineKind[] = ['document', 'observation', 'medication', 'condition'];

const KIND_OF = new Map<string, TimelineKind>(TIMELINE_KINDS.map((kind) => [TIMELINE[kind], kind]));

/** Returns the kind of a type's entries; undefined if the timeline doesn't show the type. */
export function timelineKind(type: string): TimelineKind | undefined {
  return KIND_OF.get(type);
}

/** An entry's text. */
export interface TimelineWords {
  /** The title, which is the code itself if the subject has a code but no text. */
  readonly title: string;
  /** The code system if the title is a code, so that the terminology can name it; otherwise null. */
  readonly titleSystem: string | null;
  /** The result or status; null if the resource has neither. */
  readonly summary: string | null;
  /** The codes in the summary that have no text, with their positions, so that the terminology can name them. */
  readonly summaryCodes: readonly PlacedCode[];
}

type Words = (resource: JsonObject) => readonly [title: string | undefined, summary: Phrase | undefined];

const WORDS: Readonly<Record<TimelineKind, Words>> = {
  document: (it) => {
    const type = nameConcept(it.type);
    const title = text(first(first(it.content)?.attachment)?.title) ?? text(it.description) ?? type;
    return [
      title,
      joinPhrases([
        unless(it.status, 'current'),
        unless(it.docStatus, 'final'),
        type === title ? undefined : conceptPhrase(it.type),
      ]),
    ];
  },
  observation: (it) => [
    nameConcept(it.code),
    joinPhrases([unless(it.status, 'final', 'amended', 'corrected'), readValues(it)]),
  ],
  medication: (it) => [
    nameConcept(medicationConcept(it)) ?? text(first(it.medicationReference)?.display),
    joinPhrases([text(it.status), dosage(it.dosage), reasonPhrase(it)]),
  ],
  condition: (it) => [
    nameConcept(it.code),
    joinPhrases([
      ...codes(it.clinicalStatus),
      ...codes(it.verificationStatus).filter((is) => is !== 'confirmed'),
    ]),
  ],
  encounter: (it) => [
    nameConcept(it.type) ?? text(first(it.class)?.display) ?? text(first(it.class)?.code),
    joinPhrases([unless(it.status, 'finished'), conceptPhrase(it.reasonCode)]),
  ],
  procedure: (it) => [
    nameConcept(it.code),
    joinPhrases([
      unless(it.status, 'completed'),
      conceptPhrase(it.outcome),
      conceptPhrase(it.bodySite),
      reasonPhrase(it),
    ]),
  ],
  immunization: (it) => [
    nameConcept(it.vaccineCode),
    joinPhrases([
      unless(it.status, 'completed'),
      subpotentText(it, 'en') === undefined ? undefined : 'subpotent',
      reasonPhrase(it),
    ]),
  ],
  allergy: (it) => [
    nameConcept(it.code) ?? reactionSubstances(it, nameConcept) ?? nameByReaction(it),
    joinPhrases([
      ...codes(it.clinicalStatus),
      ...codes(it.verificationStatus).filter((is) => is !== 'confirmed'),
      ...objects(it.reaction).map((each) => {
        // Without a code, the title is the substance.
        const named = nameConcept(it.code);
        const cause = named === undefined ? undefined : reactionCause(each, nameConcept, named);
        const substance = cause === undefined ? undefined : conceptPhrase(each.substance);
        return joinPhrases([substance, conceptPhrase(each.manifestation)], ': ');
      }),
    ]),
  ],
  report: (it) => [
    nameConcept(it.code),
    joinPhrases([unless(it.status, 'final', 'amended', 'corrected', 'appended'), text(it.conclusion)]),
  ],
  care_plan: (it) => [
    text(it.title) ?? nameConcept(it.category) ?? text(it.description),
    joinPhrases([text(it.status), text(it.intent)]),
  ],
  goal: (it) => [
    nameConcept(it.description),
    joinPhrases([text(it.lifecycleStatus), conceptPhrase(it.achievementStatus), reasonPhrase(it)]),
  ],
  prescription: (it) => [
    nameConcept(medicationConcept(it)) ?? text(first(it.medicationReference)?.display),
    joinPhrases([
      text(it.status),
      unless(it.intent, 'order'),
      dosage(it.dosageInstruction),
      reasonPhrase(it),
    ]),
  ],
};

/** The concept from which a kind's title is taken if the resource has no other text. */
const NAMED_BY: Readonly<Record<TimelineKind, (resource: JsonObject) => Json | undefined>> = {
  document: ({ type }) => type,
  observation: ({ code }) => code,
  medication: medicationConcept,
  condition: ({ code }) => code,
  encounter: ({ type }) => type,
  procedure: ({ code }) => code,
  immunization: ({ vaccineCode }) => vaccineCode,
  allergy: ({ code, reaction }) => code ?? objects(reaction).flatMap(({ substance }) => substance ?? []),
  report: ({ code }) => code,
  care_plan: ({ category }) => category,
  goal: ({ description }) => description,
  prescription: medicationConcept,
};

/** Returns the title of an allergy that names no substance, taken from the reactions; undefined if these say nothing. */
function nameByReaction({ reaction }: JsonObject): string | undefined {
  const said = objects(reaction).flatMap(
    ({ manifestation, description }) => nameConcept(manifestation) ?? text(description) ?? [],
  );
  return said.length === 0 ? undefined : `allergy (${[...new Set(said)].join(', ')})`;
}

/** The beginning of the last part of a summary, which gives the reason for the entry's state. */
export const REASON = 'reason: ';

/** Returns the reason for an entry's state; undefined if the entry doesn't give one. */
function reasonPhrase({ statusReason }: JsonObject): Phrase | undefined {
  const reason = conceptPhrase(statusReason) ?? text(statusReason);
  return reason === undefined ? undefined : joinPhrases([REASON.trim(), reason], ' ');
}

/** Returns the code of a concept without text; undefined if the concept has text, or if there are several concepts. */
function bareCode(value: Json | undefined): SystemCode | undefined {
  const [only, ...others] = objects(value);
  return only === undefined || others.length > 0 ? undefined : codesToName(only)[0];
}

function unless(status: JsonObject[string] | undefined, ...usual: readonly string[]): string | undefined {
  const said = text(status);
  return said === undefined || usual.includes(said) ? undefined : said;
}

/** Returns an Observation's value, or its components' values together with their names. */
function readValues(observation: JsonObject): Phrase | undefined {
  if (observation.component === undefined)
    return joinPhrases([valueSaid(observation) ?? withoutValue(observation)]);
  return joinPhrases(valuesIn(observation));
}

function* valuesIn(observation: JsonObject): Iterable<string | Phrase | undefined> {
  yield valueSaid(observation) ?? withoutValue(observation);
  for (const part of objects(observation.component))
    yield joinPhrases([conceptPhrase(part.code), valueSaid(part) ?? withoutValue(part) ?? '(no value)'], ' ');
}

/** Returns the interpretation of a result without a value, or otherwise the reason why it has no value. */
function withoutValue({ interpretation, dataAbsentReason }: JsonObject): Phrase | undefined {
  return conceptPhrase(interpretation) ?? conceptPhrase(dataAbsentReason);
}

function valueSaid(of: JsonObject): string | Phrase | undefined {
  return conceptPhrase(of.valueCodeableConcept) ?? choice(of, 'value');
}

/**
 * Returns the title for a medication whose name comes from a referenced Medication; undefined if the Medication has no name.
 */
export function medicationTitle({
  code,
}: JsonObject): Pick<TimelineWords, 'title' | 'titleSystem'> | undefined {
  const named = nameConcept(code);
  return named === undefined ? undefined : makeTitle(named, code);
}

function makeTitle(said: string, by: Json | undefined): Pick<TimelineWords, 'title' | 'titleSystem'> {
  const bare = bareCode(by);
  // If other elements name the entry, the title isn't a code.
  const isCode = bare !== undefined && said === nameConcept(by);
  return isCode
    ? { title: cutLine(bare.code), titleSystem: bare.system }
    : { title: cutLine(said), titleSystem: null };
}

/** Returns an entry's text. */
export function timelineWords(kind: TimelineKind, resource: JsonObject): TimelineWords {
  const [title, summary] = WORDS[kind](resource);
  const said = summary === undefined ? undefined : cutPhrase(summary);
  return {
    summary: said?.text ?? null,
    summaryCodes: said?.codes ?? [],
    ...makeTitle(title ?? kind.replace('_', ' '), NAMED_BY[kind](resource)),
  };
}
