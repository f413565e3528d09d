/** A record as contexts are made of it: what counts as fact, what an AI wrote, what is left out. */
import { withdrawnAs } from '#src/fhir/ips/classify.ts';
import { codings, text } from '#src/fhir/ips/parts.ts';
import { glanceAt, type Source, type Stored, sourceOf } from '#src/fhir/ips/source.ts';
import type { SystemCode } from '#src/fhir/terminology.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json.ts';
import { type Dated, datedOf } from './dates.ts';

/** The current version of a resource. */
export interface Current extends Stored {
  readonly version: number;
}

/** Names a version: `Observation/<id>/_history/3`. */
export function versionedOf({ type, id, version }: Omit<Current, 'body'>): string {
  return `${type}/${id}/_history/${version}`;
}

/** A resource and what it says. */
export interface Entry extends Source, Current {
  readonly dated: Dated;
}

/** Why a resource is not among the facts (decisions.md, section 4, "Patient safety"). */
export type LeftOut = 'entered in error' | 'refuted' | typeof MODIFIED;

/** Whoever does not know the extension does not know what such a resource says. */
export const MODIFIED = 'with a modifier extension that is not known here';

/** A record, opened. */
export interface Opened {
  /** Undefined when an AI wrote its current version. */
  readonly patient: Entry | undefined;
  /** By type, each newest first. */
  readonly facts: ReadonlyMap<string, readonly Entry[]>;
  /** What an AI wrote, newest first. */
  readonly byAi: readonly Entry[];
  readonly leftOut: ReadonlyMap<LeftOut, number>;
  /** Types of those that are `MODIFIED`. */
  readonly modified: ReadonlySet<string>;
}

/** Types that contexts are made of. */
export const CONTEXT_TYPES = [
  'Patient',
  'AllergyIntolerance',
  'MedicationStatement',
  'MedicationRequest',
  'Condition',
  'Observation',
  'Procedure',
  'Encounter',
  'CarePlan',
  'Goal',
  'CareTeam',
  'Immunization',
  'DiagnosticReport',
  'DocumentReference',
] as const;

const KNOWN: ReadonlySet<string> = new Set(CONTEXT_TYPES);

/** Members of Observations, of which there are most: what orders them. Values are read where they are told. */
const OF_OBSERVATIONS: ReadonlySet<string> = new Set([
  ...['status', 'category', 'code', 'effectiveDateTime', 'effectiveInstant', 'effectivePeriod', 'issued'],
]);

/** Members of other types whose numbers do not need their literals. */
const READ: ReadonlySet<string> = new Set([
  ...['status', 'lifecycleStatus', 'docStatus', 'verificationStatus', 'clinicalStatus', 'intent', 'title'],
  ...[
    'category',
    'code',
    'type',
    'class',
    'description',
    'criticality',
    'severity',
    'name',
    'reaction',
    'note',
  ],
  ...[
    'onsetDateTime',
    'onsetPeriod',
    'onsetAge',
    'onsetRange',
    'onsetString',
    'recordedDate',
    'lastOccurrence',
  ],
  ...[
    'abatementDateTime',
    'abatementPeriod',
    'abatementAge',
    'abatementRange',
    'abatementString',
    'date',
    'created',
  ],
  ...[
    'effectiveDateTime',
    'effectivePeriod',
    'issued',
    'performedDateTime',
    'performedPeriod',
    'performedString',
  ],
  ...[
    'period',
    'startDate',
    'occurrenceDateTime',
    'occurrenceString',
    'recorded',
    'reasonCode',
    'reasonReference',
  ],
  ...['diagnosis', 'vaccineCode', 'activity', 'conclusion', 'conclusionCode', 'outcome', 'content'],
]);

/** Types that are read whole: doses keep their digits, medications may be contained. */
const WHOLE: ReadonlySet<string> = new Set(['Patient', 'MedicationStatement', 'MedicationRequest']);

/** Resources that are opened until others have their turn. */
const AT_A_TIME = 500;

/**
 * Opens a record.
 * @param record current versions, the Patient among them; other types than those of contexts are passed over.
 * @param byAi versions that an AI wrote, as `versionedOf` names them.
 * @param pause lets others have their turn: a long record takes a while.
 */
export async function openRecord(
  record: Iterable<Current>,
  byAi: ReadonlySet<string>,
  pause: () => Promise<unknown>,
): Promise<Opened> {
  const known = new Map<string, Json>();
  const facts = new Map<string, Entry[]>();
  const ai: Entry[] = [];
  const leftOut = new Map<LeftOut, number>();
  const modified = new Set<string>();
  let opened = 0;
  for (const current of record) {
    if (!KNOWN.has(current.type)) continue;
    opened += 1;
    if (opened % AT_A_TIME === 0) await pause();
    const source = read(current, known);
    const entry: Entry = { ...source, version: current.version, dated: datedOf(source) };
    const reason = leftOutAs(source);
    if (reason !== undefined) {
      leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
      if (reason === MODIFIED) modified.add(current.type);
    } else if (byAi.has(versionedOf(current))) ai.push(entry);
    else if (facts.get(current.type)?.push(entry) === undefined) facts.set(current.type, [entry]);
  }
  for (const entries of facts.values()) entries.sort(newestFirst);
  return { patient: facts.get('Patient')?.[0], facts, byAi: ai.sort(newestFirst), leftOut, modified };
}

function read(current: Current, known: Map<string, Json>): Source {
  if (WHOLE.has(current.type)) return sourceOf(current);
  return glanceAt(current, current.type === 'Observation' ? OF_OBSERVATIONS : READ, known);
}

function leftOutAs(source: Source): LeftOut | undefined {
  const withdrawn = withdrawnAs(source);
  if (withdrawn !== undefined) return withdrawn;
  return source.body.includes('"modifierExtension":') ? MODIFIED : undefined;
}

/** By when it happened; of the same moment the one that was recorded later (ids are UUIDv7). */
export function newestFirst(a: Entry, b: Entry): number {
  if (a.dated.at !== b.dated.at) return b.dated.at - a.dated.at;
  return a.id < b.id ? 1 : -1;
}

/** Codes in resources that say nothing but themselves, each once: a reader needs to be told what they are. */
export function codesWithoutWords(values: Iterable<JsonObject>): SystemCode[] {
  const found = new Map<string, SystemCode>();
  const seen = new Set<Json>();
  for (const value of values) addBare(value, found, seen);
  return [...found.values()];
}

/** @param seen what was looked into: equal members of a record are often one and the same */
function addBare(value: Json, found: Map<string, SystemCode>, seen: Set<Json>): void {
  if (typeof value !== 'object' || value === null || seen.has(value)) return;
  seen.add(value);
  if (Array.isArray(value)) for (const item of value) addBare(item, found, seen);
  else if (isObject(value)) {
    if (value.coding !== undefined && text(value.text) === undefined) {
      const all = codings(value);
      if (all.every(({ display }) => text(display) === undefined)) {
        for (const { system, code } of all) {
          if (typeof system === 'string' && typeof code === 'string')
            found.set(`${system}|${code}`, { system, code });
        }
      }
    }
    for (const member of Object.values(value)) addBare(member, found, seen);
  }
}
