/** Whose row an event makes: the tenant and the record that every row of a read model bears. */
import type { ResourceEvent, StoredEvent } from '#src/events/catalog.ts';
import { patientOf } from '#src/events/streams.ts';
import { tenantId } from '#src/shared/tenant.ts';

/** A stored event about one version of one resource. */
export type StoredResourceEvent = StoredEvent & { readonly event: ResourceEvent };

/** Whether an event is about a resource. */
export function isResourceEvent(stored: StoredEvent): stored is StoredResourceEvent {
  const { type } = stored.event;
  return type === 'ResourceCreated' || type === 'ResourceUpdated' || type === 'ResourceDeleted';
}

/**
 * The tenant (as `tenantId`) and the record (the patient's id; null in a directory) of a resource event.
 * @throws Error when the metadata name no owner: nobody could ever be allowed to see the row.
 */
export function ownerOf(stored: StoredEvent): { tenant: string; record: string | null } {
  const { owner } = stored.metadata;
  if (owner === undefined) throw new Error('its metadata has no owner');
  return { tenant: tenantId(owner), record: patientOf(stored.stream) ?? null };
}

/** The patients whose records a batch says were erased. */
export function erasedIn(events: readonly StoredEvent[]): string[] {
  return events.flatMap(({ event }) => (event.type === 'RecordErased' ? [event.data.patient] : []));
}
