/** Builds the rows that a version of a resource has in the read model `timeline`. */

import { isModified } from '#src/clinical/reading/status.ts';
import type { StoredEvent } from '#src/events/catalog.ts';
import { searchKey } from '#src/fhir/search/keys.ts';
import { type JsonObject, printJson } from '#src/shared/json/json.ts';
import type { Steps } from '#src/shared/load/slices.ts';
import { dayAt, isVague } from '#src/shared/time/day.ts';
import { type Micros, toMicros } from '#src/shared/time/time.ts';
import { shownCondition } from '#src/v1/condition.ts';
import { listNames, vaguePart, withdrawnListNames } from '#src/v1/lists.ts';
import { medicationReferred, shownMedication } from '#src/v1/medication.ts';
import { shownObservation } from '#src/v1/observation.ts';
import { shownPrescription } from '#src/v1/prescription.ts';
import {
  type EventDate,
  readEventDate,
  TIMELINE,
  type TimelineKind,
  timelineKind,
  timelineWords,
} from '#src/v1/timeline.ts';
import { isResourceEvent, readOwner, readSight, type StoredResourceEvent } from '../owner.ts';
import { parsedOnce, type Version } from '../parsed.ts';
import type { Row } from '../rows.ts';
import type { ENTRY } from './schema.ts';

/** A row of `entry`; the rows of `place` are derived from it. */
export type Entry = Row<typeof ENTRY> & {
  readonly id: string;
  readonly version: number;
  readonly record: string;
  readonly at: Micros;
  readonly day: number;
  readonly last_day: number;
  readonly lists: readonly string[];
  readonly vague_lists: readonly string[] | null;
};

/**
 * The time, in 1684, that is used for entries without a date, so that these entries come before all others. The day on which
 * an entry was made isn't a clinical date.
 */
const UNDATED: Micros = -9_000_000_000_000_000;

/** A list that is never read: hidden resources are placed in it, so that an erasure finds them too. */
const UNREAD = searchKey('not shown');

/** Returns the entries of a batch's resources, one per step. */
export function* makeEntries(events: readonly StoredEvent[]): Steps<Entry[]> {
  const entries: Entry[] = [];
  for (const stored of events) {
    if (!isResourceEvent(stored)) continue;
    const entry = makeEntry(stored);
    if (entry !== undefined) entries.push(entry);
    yield;
  }
  return entries;
}

function makeEntry(stored: StoredResourceEvent): Entry | undefined {
  const { event, metadata } = stored;
  const kind = timelineKind(event.resourceType);
  if (kind === undefined) return undefined;
  const { tenant, record } = readOwner(stored);
  if (record === null) return undefined;
  const since = toMicros(metadata.recorded_at);
  const { resourceId: id, version, resourceType: type } = event;
  const shown = event.type === 'ResourceDeleted' ? undefined : visibleMembers(kind, event);
  const at = shown?.when?.at ?? UNDATED;
  const days = shown?.when?.days ?? { first: dayAt(at / 1000), last: dayAt(at / 1000) };
  return {
    id,
    version,
    tenant,
    record,
    type,
    since,
    at,
    day: days.first,
    last_day: days.last,
    lists: shown?.lists ?? [UNREAD],
    vague_lists: shown?.vague_lists ?? null,
    categories: readSight(event)?.categories ?? null,
    date: shown?.when?.date ?? null,
    date_means: shown?.when?.means ?? null,
    title: shown?.title ?? null,
    title_system: shown?.title_system ?? null,
    summary: shown?.summary ?? null,
    summary_codes: shown?.summary_codes ?? null,
    fields: shown?.fields ?? null,
    refers: shown?.refers ?? null,
    refers_version: shown?.refers_version ?? null,
    author_type: metadata.author?.type ?? 'import',
    source_system: metadata.source_system ?? null,
    origin_id: metadata.origin_id ?? null,
  };
}

/** The members of an entry for a visible version. */
type Shown = Pick<
  Entry,
  | 'lists'
  | 'vague_lists'
  | 'title'
  | 'title_system'
  | 'summary'
  | 'summary_codes'
  | 'fields'
  | 'refers'
  | 'refers_version'
> & {
  /** Undefined if the resource doesn't state a time. */
  readonly when: EventDate | undefined;
};

/** The members for a resource that isn't shown in any list, but is counted. */
const NOT_SHOWN = {
  ...{ title: null, title_system: null, summary: null, summary_codes: null },
  ...{ fields: null, refers: null, refers_version: null },
} as const;

/** Returns the members of a visible entry; undefined for a hidden resource. */
function visibleMembers(kind: TimelineKind, event: Version): Shown | undefined {
  const { value: resource, exact } = parsedOnce(event);
  const type = TIMELINE[kind];
  const lists = listNames(type, resource, isModified(resource, event.body));
  const when = readEventDate(type, resource);
  if (lists.length === 0) {
    const withdrawn = withdrawnListNames(type, resource);
    if (withdrawn.length === 0) return undefined;
    return { ...NOT_SHOWN, lists: withdrawn.map(searchKey), vague_lists: vagueKeys(withdrawn, when), when };
  }
  const { title, titleSystem, summary, summaryCodes } = timelineWords(kind, resource);
  const places = summaryCodes.map(({ offset, system, code }) => [offset, system, code]);
  const referred = NAMED_ELSEWHERE.has(kind) ? medicationReferred(resource) : undefined;
  const fields = FIELDS[kind]?.(resource);
  return {
    lists: lists.map(searchKey),
    vague_lists: vagueKeys(lists, when),
    when,
    title,
    title_system: titleSystem,
    summary,
    summary_codes: places.length === 0 ? null : JSON.stringify(places),
    fields: fields === undefined ? null : printJson(fields as JsonObject, exact).slice(1, -1),
    refers: referred?.id ?? null,
    refers_version: referred?.version ?? null,
  };
}

/**
 * Returns the keys of the lists in which an entry is placed by the last day on which it may have happened; null if its day is
 * known.
 */
function vagueKeys(lists: readonly string[], when: EventDate | undefined): string[] | null {
  if (when === undefined || !isVague(when.date)) return null;
  return lists.map((name) => searchKey(vaguePart(name)));
}

/** Kinds that refer to a Medication, which may be in the directory. */
const NAMED_ELSEWHERE: ReadonlySet<TimelineKind> = new Set(['medication', 'prescription']);

/** The members that lists show. Changing these members requires a new projection `version`. */
const FIELDS: Readonly<Partial<Record<TimelineKind, (resource: JsonObject) => object>>> = {
  observation: shownObservation,
  condition: shownCondition,
  medication: shownMedication,
  prescription: shownPrescription,
};
