/** The owner of a row: the tenant and the record in every row of a read model. */
import type { ResourceEvent, StoredEvent } from '#src/events/catalog.ts';
import { patientOf } from '#src/events/streams.ts';
import { tenantId } from '#src/shared/tenant.ts';

/** A stored event about one version of one resource. */
export type StoredResourceEvent = StoredEvent & { readonly event: ResourceEvent };

/** Tells whether an event concerns a resource. */
export function isResourceEvent(stored: StoredEvent): stored is StoredResourceEvent {
  const { type } = stored.event;
  return type === 'ResourceCreated' || type === 'ResourceUpdated' || type === 'ResourceDeleted';
}

/**
 * Returns the tenant (as `tenantId`) and the record (the patient's id; null in a directory) of a resource event.
 * @throws Error if the metadata name no owner, because the row could never be shown
 */
export function ownerOf(stored: StoredEvent): { tenant: string; record: string | null } {
  const { owner } = stored.metadata;
  if (owner === undefined) throw new Error('its metadata has no owner');
  return { tenant: tenantId(owner), record: patientOf(stored.stream) ?? null };
}

/** Returns the patients whose erasure a batch reports. */
export function erasedIn(events: readonly StoredEvent[]): string[] {
  return events.flatMap(({ event }) => (event.type === 'RecordErased' ? [event.data.patient] : []));
}
