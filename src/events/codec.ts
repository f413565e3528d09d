/**
 * Converts events to text and back. The data of resource events is `{…header, "resource": <FHIR JSON>}`, with the resource as
 * the last member. The resource's text is cut out and passed on without being parsed, so that FHIR decimals keep their
 * precision. Only the header is parsed and upcast.
 */
import { isObject } from '#src/shared/json/json.ts';
import { mapSteps, type Steps } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { type Micros, toInstant } from '#src/shared/time/time.ts';
import { isStorableJson } from './append.ts';
import {
  CATALOG,
  type DomainEvent,
  type EventType,
  type PlainEvent,
  type ResourceEvent,
  type StoredEvent,
} from './catalog.ts';
import { type EventMetadata, parseMetadata } from './metadata.ts';
import { NewerEvent } from './newer.ts';
import type { NewEvent, RecordedEvent } from './store.ts';
import { requireEventAllowed } from './streams.ts';
import { UnreadableEvent } from './unreadable.ts';
import { upcast } from './upcast/upcast.ts';

/**
 * Serializes an event's data for storage.
 * @throws Refusal invalid (422) for a string that no database can store, because it contains a NUL or a lone surrogate.
 */
export function encode(event: DomainEvent): string {
  const data = printEvent(event);
  if (isStorableJson(data) && textsWithin(event).every(isStorableJson)) return data;
  throw new Refusal('invalid', {
    code: 'value',
    diagnostics: 'a text contains a NUL character or an unpaired surrogate, which cannot be stored',
  });
}

/** Returns the JSON texts that are embedded in the data: carried entries, and a proposed resource. */
function textsWithin(event: DomainEvent): readonly string[] {
  if (event.type === 'DirectoryEntriesCarried') return event.data.entries.map(({ resource }) => resource);
  return event.type === 'ProposalMade' ? [event.data.resource] : [];
}

function printEvent(event: DomainEvent): string {
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
 * Returns the domain event in a stored event's data, in the form of its type's current version.
 * @param version the data's version; at most the current version.
 * @throws TypeError, SyntaxError or ZodError if the data doesn't have the form of that version.
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
 * Returns a stored event in its type's current form, regardless of the version in which it was written.
 * @throws NewerEvent for a type or version that this instance doesn't know; UnreadableEvent for metadata or data that no
 * version has written.
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

/**
 * Checks the members that every reader needs. Other changes are detected by the hash chain.
 * @throws UnreadableEvent
 */
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

type ResourceEventType = ResourceEvent['type'];

/** A tuple with one pattern for each version up to `V`. */
type PatternsTo<V extends number, P extends readonly RegExp[] = readonly []> = P['length'] extends V
  ? P
  : PatternsTo<V, readonly [...P, RegExp]>;

const VERSION_1 =
  /^\{"resource_type":"(\w+)","resource_id":"([0-9a-f-]{36})","version":(\d+)(?:,"resource":|\}$)/;

/**
 * Maps an event type to patterns for the header's text, one for each version of the type, starting with version 1. The
 * compiler requires a pattern for each version. In the current version's pattern, the groups are the resource's type, id and
 * version.
 */
export const HEADERS: {
  readonly [T in ResourceEventType]: PatternsTo<(typeof CATALOG)[T]['version']>;
} = {
  ResourceCreated: [VERSION_1],
  ResourceUpdated: [VERSION_1],
  ResourceDeleted: [VERSION_1],
};

const PATTERNS: Readonly<Record<ResourceEventType, readonly RegExp[]>> = HEADERS;

/** The header in its current form. */
interface ResourceHeader {
  readonly fields: { readonly resourceType: string; readonly resourceId: string; readonly version: number };
  /** The number of characters before the resource. */
  readonly length: number;
}

/**
 * Reads the header in a resource event's data.
 * @param version the data's version; at most the current version.
 * @throws TypeError, or ZodError after upcasting, if the header doesn't have the form of that version.
 */
function readHeader(type: ResourceEventType, version: number, data: string): ResourceHeader {
  const header = PATTERNS[type][version - 1]?.exec(data) ?? null;
  if (header === null) throw new TypeError(`the data are not of the form of ${type} version ${version}`);
  const [text, resourceType = '', resourceId = '', number] = header;
  const fields =
    version === CATALOG[type].version
      ? { resourceType, resourceId, version: Number(number) }
      : upcastFields(type, version, text);
  return { fields, length: text.length };
}

function upcastFields(type: ResourceEventType, version: number, text: string): ResourceHeader['fields'] {
  const header: unknown = JSON.parse(text.replace(/(?:,"resource":|\})$/, '}'));
  // For the schema, `resource` is an empty object; the resource in the event is neither parsed nor changed.
  const current = CATALOG[type].data.parse({ ...upcast(type, version, header), resource: {} });
  return {
    resourceType: current.resource_type,
    resourceId: current.resource_id,
    version: current.version,
  };
}

/** An event that a decision has drafted. */
export interface Draft {
  /** The event's id, derived from the command's seed. */
  readonly id: string;
  /** Later than the time of the previous event in the stream. Bodies contain this time. */
  readonly at: Micros;
  readonly event: DomainEvent;
  /** The event's own author and source, if the events of the append have different ones. */
  readonly by?: Pick<EventMetadata, 'author' | 'source_system' | 'origin_id'>;
}

/**
 * Yields the events of one append in the form that the store accepts, with metadata that includes version, time and index in
 * the append. Each step yields one event, because bodies may be large.
 * @throws ForeignEvent if the stream can't contain an event; Refusal invalid (422) for text that can't be stored.
 */
export function newEvents(
  stream: string,
  drafts: readonly Draft[],
  shared: Omit<EventMetadata, 'schema_version' | 'recorded_at' | 'append'>,
): Steps<NewEvent[]> {
  return mapSteps(drafts, ({ id, at, event, by }, index) => {
    requireEventAllowed(stream, event.type);
    const { owner, ...others } = shared;
    const metadata: EventMetadata = {
      schema_version: CATALOG[event.type].version,
      ...others,
      ...by,
      recorded_at: toInstant(at),
      append: [index, drafts.length],
      ...(owner === undefined ? {} : { owner }),
    };
    return { id, type: event.type, data: encode(event), metadata: JSON.stringify(metadata) };
  });
}
