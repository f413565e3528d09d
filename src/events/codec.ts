/**
 * Events as texts and back.
 *
 * Data of resource events are `{…header, "resource": <FHIR JSON>}` with the resource as the last member, so that
 * its text is cut out and passed on without being parsed: FHIR decimals keep their literals.
 */
import { Refusal } from '../shared/refusal.ts';
import { CATALOG, type DomainEvent, type PlainEvent, type PlainType, type StoredEvent } from './catalog.ts';
import { parseMetadata } from './metadata.ts';
import type { RecordedEvent } from './store.ts';
import { isStorableJson } from './text.ts';

/** An event type that this version of the software does not know: the projection that meets it stops. */
export class UnknownEvent extends Error {
  override readonly name = 'UnknownEvent';
}

/**
 * The data text of an event, as it is stored.
 * @throws Refusal invalid (422) for a string in it that no database holds: with a NUL or half of a surrogate pair.
 */
export function encode(event: DomainEvent): string {
  const data = textOf(event);
  // A carried entry is a JSON text within the text.
  const carried = event.type === 'DirectoryEntriesCarried' ? event.data.entries : [];
  if (isStorableJson(data) && carried.every(({ resource }) => isStorableJson(resource))) return data;
  throw new Refusal('invalid', {
    code: 'value',
    diagnostics: 'a text has a NUL character or half of a surrogate pair, which cannot be stored',
  });
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

const HEADER =
  /^\{"resource_type":"(\w+)","resource_id":"([0-9a-f-]{36})","version":(\d+)(?:,"resource":|\}$)/;

/** The domain event in a stored event's data. @throws UnknownEvent for a type or a form that is not in the catalogue. */
export function decode(type: string, data: string): DomainEvent {
  if (type === 'ResourceCreated' || type === 'ResourceUpdated' || type === 'ResourceDeleted') {
    const header = HEADER.exec(data);
    if (header === null) throw new UnknownEvent(`${type} has data of an unknown form`);
    const [whole, resourceType = '', resourceId = '', version] = header;
    const fields = { resourceType, resourceId, version: Number(version) };
    if (type === 'ResourceDeleted') return { type, ...fields };
    return { type, ...fields, body: data.slice(whole.length, -1) };
  }
  if (!Object.hasOwn(CATALOG, type)) throw new UnknownEvent(`event type ${type} is not in the catalogue`);
  const known = type as PlainType;
  return { type: known, data: CATALOG[known].data.parse(JSON.parse(data)) } as PlainEvent;
}

/** A stored event, understood. */
export function understand(recorded: RecordedEvent): StoredEvent {
  return {
    id: recorded.id,
    stream: recorded.stream,
    revision: recorded.revision,
    position: recorded.position,
    metadata: parseMetadata(recorded.metadata),
    event: decode(recorded.type, recorded.data),
  };
}
