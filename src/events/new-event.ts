/** Events on their way into the store. */
import { CATALOG, type DomainEvent } from './catalog.ts';
import { encode } from './codec.ts';
import { requireEventOf } from './kinds.ts';
import type { EventMetadata } from './metadata.ts';
import type { NewEvent } from './store.ts';

/**
 * An event as its stream will hold it, with the version of its type.
 * @throws ForeignEvent when the stream cannot hold it; Refusal invalid (422) for text that cannot be stored.
 */
export function newEvent(
  stream: string,
  id: string,
  event: DomainEvent,
  metadata: Omit<EventMetadata, 'schema_version'>,
): NewEvent {
  requireEventOf(stream, event.type);
  const { version: schema_version } = CATALOG[event.type];
  const { type } = event;
  return { id, type, data: encode(event), metadata: JSON.stringify({ schema_version, ...metadata }) };
}
