/**
 * Converts events to text and back. Data of resource events is `{…header, "resource": <FHIR JSON>}` with the
 * resource as the last member: its text is cut out and passed on unparsed, so FHIR decimals keep their
 * precision.
 */
import { isObject } from '../shared/json.ts';
import { Refusal } from '../shared/refusal.ts';
import { CATALOG, type DomainEvent, type EventType, type PlainEvent, type StoredEvent } from './catalog.ts';
import { parseMetadata } from './metadata.ts';
import { NewerEvent } from './newer.ts';
import type { RecordedEvent } from './store.ts';
import { isStorableJson } from './text.ts';
import { UnreadableEvent } from './unreadable.ts';
import { readHeader } from './upcast/resource-header.ts';
import { upcast } from './upcast/upcast.ts';

/**
 * Serializes the data of an event as it is stored.
 * @throws Refusal invalid (422) for a string that no database can store: with a NUL or half of a surrogate
 * pair.
 */
export function encode(event: DomainEvent): string {
  const data = textOf(event);
  if (isStorableJson(data) && textsWithin(event).every(isStorableJson)) return data;
  throw new Refusal('invalid', {
    code: 'value',
    diagnostics: 'a text contains a NUL character or an unpaired surrogate, which cannot be stored',
  });
}

/** Returns JSON texts within the text: of carried entries, and of a proposed resource. */
function textsWithin(event: DomainEvent): readonly string[] {
  if (event.type === 'DirectoryEntriesCarried') return event.data.entries.map(({ resource }) => resource);
  return event.type === 'ProposalMade' ? [event.data.resource] : [];
}

function textOf(event: DomainEvent): string {
  switch (event.type) {
    case 'ResourceCreated':
    case 'ResourceUpdated':
      return `{"resource_type":"${event.resourceType}","resource_id":"${event.resourceId}","version":${event.version},"resource":${event.body}}`;
    case 'ResourceDeleted':
      return `{"resource_type":"${event.resourceType}","resource_id":"${event.resourceId}","version":${event.version}}`;
    default:
      return JSON.stringify(CATALOG[event.type].data.parse(event.data));
  }
}

/**
 * Returns the domain event in a stored event's data, in the form of the current version of its type.
 * @param version that the data have; at most the current one.
 * @throws TypeError, SyntaxError or ZodError for data that are not of the form of that version.
 */
export function decode(type: EventType, version: number, data: string): DomainEvent {
  if (type === 'ResourceCreated' || type === 'ResourceUpdated' || type === 'ResourceDeleted') {
    const { fields, length } = readHeader(type, version, data);
    if (type === 'ResourceDeleted') return { type, ...fields };
    return { type, ...fields, body: data.slice(length, -1) };
  }
  const parsed: unknown = JSON.parse(data);
  const upToDate = version === CATALOG[type].version ? parsed : upcast(type, version, parsed);
  return { type, data: CATALOG[type].data.parse(upToDate) } as PlainEvent;
}

/**
 * Returns a stored event in the current form of its type, whatever version it was written as.
 * @throws NewerEvent for a type or version that this instance doesn't know; UnreadableEvent for metadata or data that
 *   no version has written.
 */
export function understand(recorded: RecordedEvent): StoredEvent {
  const { id, stream, revision, position, type, data } = recorded;
  const metadata = readMetadata(recorded);
  const version = metadata.schema_version;
  if (!isKnown(type)) throw new NewerEvent(recorded, version, undefined);
  if (version > CATALOG[type].version) throw new NewerEvent(recorded, version, CATALOG[type].version);
  try {
    return { id, stream, revision, position, metadata, event: decode(type, version, data) };
  } catch (error) {
    throw new UnreadableEvent(recorded, error);
  }
}

/** Checks what every reader needs; the hash chain detects other changes. @throws UnreadableEvent */
function readMetadata(recorded: RecordedEvent): StoredEvent['metadata'] {
  const metadata = parsedMetadata(recorded);
  if (!isObject(metadata)) throw new UnreadableEvent(recorded, 'its metadata is not an object');
  const { schema_version: version, recorded_at: at } = metadata;
  if (!Number.isInteger(version) || version < 1)
    throw new UnreadableEvent(recorded, 'schema_version in its metadata is not a positive integer');
  if (typeof at !== 'string') throw new UnreadableEvent(recorded, 'its metadata has no recorded_at');
  return metadata;
}

function parsedMetadata(recorded: RecordedEvent): StoredEvent['metadata'] {
  try {
    return parseMetadata(recorded.metadata);
  } catch {
    throw new UnreadableEvent(recorded, 'its metadata is not valid JSON');
  }
}

function isKnown(type: string): type is EventType {
  return Object.hasOwn(CATALOG, type);
}
