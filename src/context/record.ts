/** Sorts a record into the groups that contexts use: facts, AI-written resources, and resources that are left out. */

import type { Dated } from '#src/clinical/reading/dates.ts';
import type { Replaced } from '#src/clinical/reading/told.ts';
import type { AiVersions } from '#src/clinical/summary/choose.ts';
import type { Stored } from '#src/clinical/summary/source.ts';
import { codings, text } from '#src/fhir/parts.ts';
import type { SystemCode } from '#src/fhir/terminology.ts';
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';

/** Identifies one version of a resource. */
export interface Version {
  readonly type: string;
  readonly id: string;
  readonly version: number;
}

/** A resource's current version. */
export interface Current extends Stored, Version {}

/** Returns `Observation/<id>/_history/3`. */
export function versionReference({ type, id, version }: Version): string {
  return `${type}/${id}/_history/${version}`;
}

/** A resource, with only the members that were read. */
export interface Entry extends Version {
  readonly value: JsonObject;
  /** The earlier versions, newest first; only the ones that were read. */
  readonly replaced?: readonly Replaced[] | undefined;
  readonly dated: Dated;
  /** For Observations: false only if there is certainly no value. */
  readonly mayHaveValue: boolean;
  /** For Observations: true if there is an interpretation but no value. */
  readonly isOnlyJudged: boolean;
  /** For Observations with a number: its JSON, an integer or a Quantity. */
  readonly number: string | undefined;
}

/** The reason why a resource isn't among the facts (docs/spec/decisions.md, section 4 "Patient safety"). */
export type LeftOut = 'entered in error' | 'refuted' | typeof REFUTED_BY_AI | typeof MODIFIED;

/** A modifier extension can change a resource's meaning, so a resource with an unknown modifier extension is excluded. */
export const MODIFIED = 'with an unknown modifier extension';

/** An AI's statement isn't a fact, so an entry that an AI refuted may still be true (docs/spec/interface.md, section 2.5). */
export const REFUTED_BY_AI = 'that an AI marked as entered in error or refuted';

/** A resource whose excerpt was read. */
export interface Excerpt extends Entry {
  readonly leftOut: LeftOut | undefined;
}

/** A resource that an AI changed, and the last earlier version, which someone else wrote. */
export interface Changed {
  readonly entry: Excerpt;
  readonly earlier: Version;
}

/** A record, sorted into facts and the rest. */
export interface OpenedRecord {
  /** Undefined if an AI wrote the Patient's current version. */
  readonly patient: Entry | undefined;
  /** By type; newest first within each type. */
  readonly facts: ReadonlyMap<string, readonly Entry[]>;
  /** AI-written resources, newest first. */
  readonly byAi: readonly Entry[];
  /** Entries by other authors that an AI changed, including entries that it withdrew, newest first. */
  readonly changed: readonly Changed[];
  readonly leftOut: ReadonlyMap<LeftOut, number>;
  /** Refuted allergies, newest first. */
  readonly refuted: readonly Entry[];
  /** The types of left-out resources that may state something true. */
  readonly unsure: ReadonlyMap<LeftOut, ReadonlySet<string>>;
}

/** Types that contexts use. */
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

/**
 * Sorts a record into facts, AI-written resources and resources that are left out.
 * @param record current versions in any order, including the Patient
 * @param byAi versions that an AI wrote
 */
export function openRecord(record: Iterable<Excerpt>, byAi: AiVersions): OpenedRecord {
  const facts = new Map<string, Entry[]>();
  const ai: Entry[] = [];
  const changed: Changed[] = [];
  const leftOut = new Map<LeftOut, number>();
  const refuted: Entry[] = [];
  const unsure = new Map<LeftOut, Set<string>>(
    ([MODIFIED, REFUTED_BY_AI] as const).map((reason) => [reason, new Set()]),
  );
  for (const glance of record) {
    const name = byAi.size === 0 ? '' : versionReference(glance);
    const isByAi = byAi.has(name);
    const version = byAi.get(name);
    if (version !== undefined) changed.push({ entry: glance, earlier: { ...versionIn(glance), version } });
    const reason =
      isByAi && glance.leftOut !== undefined && glance.leftOut !== MODIFIED ? REFUTED_BY_AI : glance.leftOut;
    if (reason !== undefined) {
      leftOut.set(reason, (leftOut.get(reason) ?? 0) + 1);
      if (reason === 'refuted' && glance.type === 'AllergyIntolerance') refuted.push(glance);
      unsure.get(reason)?.add(glance.type);
    } else if (isByAi) ai.push(glance);
    else if (facts.get(glance.type)?.push(glance) === undefined) facts.set(glance.type, [glance]);
  }
  for (const entries of facts.values()) entries.sort(newestFirst);
  changed.sort((a, b) => newestFirst(a.entry, b.entry));
  return {
    patient: facts.get('Patient')?.[0],
    facts,
    byAi: ai.sort(newestFirst),
    changed,
    leftOut,
    refuted: refuted.sort(newestFirst),
    unsure,
  };
}

const versionIn = ({ type, id, version }: Version): Version => ({ type, id, version });

/** Compares by date, newest first. If dates are equal, the entry that was recorded later comes first (ids are UUIDv7). */
function newestFirst(a: Entry, b: Entry): number {
  if (a.dated.at !== b.dated.at) return b.dated.at - a.dated.at;
  return a.id < b.id ? 1 : -1;
}

/** Codes by `system|code`. */
type Bare = ReadonlyMap<string, SystemCode>;

/** Codes in opened records, cached because an opened record doesn't change. */
const bareIn = new WeakMap<OpenedRecord, Bare>();

/**
 * Returns the codes that have neither text nor display, without duplicates, because readers need names for them.
 * @param others additional resources that a context reads
 */
export function codesWithoutWords(
  opened: OpenedRecord,
  others: Iterable<Pick<Entry, 'value'>>,
): SystemCode[] {
  const own = bareIn.get(opened) ?? gatherBare([...opened.facts.values(), opened.byAi].flat());
  bareIn.set(opened, own);
  return [...new Map([...own, ...gatherBare(others)]).values()];
}

function gatherBare(resources: Iterable<Pick<Entry, 'value'>>): Bare {
  const found = new Map<string, SystemCode>();
  const seen = new Set<Json>();
  for (const { value } of resources) {
    for (const name in value) {
      const member = value[name];
      // Checked first, because most members are strings.
      if (typeof member === 'object') addBare(member, found, seen);
    }
  }
  return found;
}

/**
 * Adds the codes in a value that have neither text nor display.
 * @param seen values that were already visited, because equal members in a record often share one object
 */
function addBare(value: Json | undefined, found: Map<string, SystemCode>, seen: Set<Json>): void {
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
