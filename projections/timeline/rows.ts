/** The rows that a version of a resource makes in the read model `timeline`. */

import type { StoredEvent } from '#src/events/catalog.ts';
import { shownCondition } from '#src/fhir/v1/condition.ts';
import { happened } from '#src/fhir/v1/happened.ts';
import { listsOf } from '#src/fhir/v1/lists.ts';
import { medicationReferred, shownMedication } from '#src/fhir/v1/medication.ts';
import { shownObservation } from '#src/fhir/v1/observation.ts';
import { kindOf, TIMELINE, type TimelineKind, timelineWords } from '#src/fhir/v1/timeline.ts';
import { type JsonObject, printJson } from '#src/shared/json.ts';
import { searchKey } from '#src/shared/search-key.ts';
import { parseStored } from '#src/shared/stored-json.ts';
import { type Micros, toMicros } from '#src/shared/time.ts';
import { isResourceEvent, ownerOf, type StoredResourceEvent } from '../owner.ts';
import type { Row } from '../rows.ts';
import type { ENTRY } from './schema.ts';

/** A row of `entry`; the rows of `place` follow from it. */
export type Entry = Row<typeof ENTRY> & {
  readonly id: string;
  readonly version: number;
  readonly record: string;
  readonly at: Micros;
  readonly lists: readonly string[];
};

/** The list that nobody reads: what is not shown has a place too, so that an erasure finds it. */
const UNREAD = searchKey('not shown');

/** The entries of what a batch says of resources that the timeline shows. */
export function entriesOf(events: readonly StoredEvent[]): Entry[] {
  return events.filter(isResourceEvent).flatMap((stored) => entryOf(stored) ?? []);
}

function entryOf(stored: StoredResourceEvent): Entry | undefined {
  const { event, metadata } = stored;
  const kind = kindOf(event.resourceType);
  const { tenant, record } = ownerOf(stored);
  if (kind === undefined || record === null) return undefined;
  const since = toMicros(metadata.recorded_at);
  const { resourceId: id, version, resourceType: type } = event;
  const row = { id, version, tenant, record, type, since };
  const created = createdAt(id) ?? since;
  const unseen: Entry = {
    ...row,
    at: created,
    lists: [UNREAD],
    date: null,
    title: null,
    summary: null,
    fields: null,
    refers: null,
    refers_version: null,
    author_type: metadata.author?.type ?? 'import',
    source_system: metadata.source_system ?? null,
    origin_id: metadata.origin_id ?? null,
  };
  if (event.type === 'ResourceDeleted') return unseen;
  const resource = parseStored(event.body);
  const lists = listsOf(TIMELINE[kind], resource, event.body.includes('"modifierExtension":'));
  if (lists.length === 0) return unseen;
  const when = happened(type, resource);
  const referred = kind === 'medication' ? medicationReferred(resource) : undefined;
  return {
    ...unseen,
    at: when?.at ?? created,
    lists: lists.map(searchKey),
    date: when?.date ?? null,
    ...timelineWords(kind, resource),
    fields: fieldsOf(kind, resource),
    refers: referred?.id ?? null,
    refers_version: referred?.version ?? null,
  };
}

/** The time that a UUIDv7 bears: that of the command that created the resource. */
function createdAt(id: string): Micros | undefined {
  return id[14] === '7' ? Number.parseInt(id.slice(0, 8) + id.slice(9, 13), 16) * 1000 : undefined;
}

/** What lists show. A change of these members is a new `version` of the projection. */
const FIELDS: Readonly<Partial<Record<TimelineKind, (resource: JsonObject) => object>>> = {
  observation: shownObservation,
  condition: shownCondition,
  medication: shownMedication,
};

function fieldsOf(kind: TimelineKind, resource: JsonObject): string | null {
  const shown = FIELDS[kind]?.(resource);
  return shown === undefined ? null : printJson(shown as JsonObject).slice(1, -1);
}
