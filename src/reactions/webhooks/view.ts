/**
 * Webhook events as a view of the log (docs/spec/interface.md, section 6). They contain ids, type and version, never
 * clinical content. Pure.
 */
import { hash } from 'node:crypto';
import type { EventType, StoredEvent } from '#src/events/catalog.ts';
import { recordPatient } from '#src/events/streams.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import type { WebhookEventType } from '#src/shared/webhook-types.ts';

/** A webhook event before it is signed. */
export interface WebhookEvent {
  /** `evt_…`: derived from the event in the log, so that all redeliveries and replays of an event have the same id. */
  readonly id: string;
  readonly type: WebhookEventType;
  /** The id of the patient whose record the event is about; undefined for the directory. */
  readonly record: string | undefined;
  /** The delivery's body: exact JSON text. */
  readonly payload: string;
}

/** A subscriber: either the owner of a record or directory, or the applications that know a record by the same pairwise id. */
export interface Subscriber extends Tenant {
  /** The sector by which the project identifies the applications; only for applications with a grant. */
  readonly sector?: string;
  /** The applications' pairwise id for the record's Patient; the owner knows the real id. */
  readonly patient?: string;
}

/** Types of log events that are sent to subscribers → their webhook types. */
const TYPES = {
  ResourceCreated: 'resource.created',
  ResourceUpdated: 'resource.updated',
  ResourceDeleted: 'resource.deleted',
  DocumentFinalized: 'document.finalized',
  ConsentGranted: 'consent.granted',
  ConsentRevoked: 'consent.revoked',
  ProposalAccepted: 'proposal.accepted',
  ProposalRejected: 'proposal.rejected',
} as const satisfies { readonly [T in EventType]?: WebhookEventType };

/** Log event types that may have subscribers. */
export const TOLD: ReadonlySet<string> = new Set(Object.keys(TYPES));

/**
 * Returns the tenants that receive an event regardless of grants (docs/spec/decisions.md, section 6). Events about grants and
 * proposals go to the application's project, even if the service wrote them. All other events go to the owner of the record or
 * directory, except the events that the service itself wrote.
 */
export function listAudience({ event, metadata }: StoredEvent): readonly Tenant[] {
  switch (event.type) {
    case 'ConsentGranted':
    case 'ConsentRevoked':
    case 'ProposalAccepted':
    case 'ProposalRejected':
      return [{ project: event.data.project_id, environment: event.data.environment }];
    default:
  }
  if (!TOLD.has(event.type) || isServicesOwn(metadata)) return [];
  return metadata.owner === undefined ? [] : [metadata.owner];
}

/**
 * Returns whether the service wrote an event to fill or empty a sandbox. The purge of a personal record at its patient's
 * request has no project, because its events don't name a person.
 */
export function isServicesOwn({ credential }: StoredEvent['metadata']): boolean {
  return credential.kind === 'system' && credential.project !== undefined;
}

/** Returns a subscriber's view of an event; undefined if the subscriber doesn't receive it. */
export function viewFor(stored: StoredEvent, subscriber: Subscriber): WebhookEvent | undefined {
  const { event, metadata, stream } = stored;
  const record = recordPatient(stream);
  const patient = subscriber.patient ?? record ?? null;
  switch (event.type) {
    case 'ResourceCreated':
    case 'ResourceUpdated':
    case 'ResourceDeleted': {
      const { resourceType, resourceId, version } = event;
      return makeEvent(stored, TYPES[event.type], subscriber, record, {
        resource_type: resourceType,
        id: resourceType === 'Patient' && patient !== null ? patient : resourceId,
        patient,
        version,
        last_updated: metadata.recorded_at,
        ...causeIn(metadata),
        ...external(stored, subscriber),
      });
    }
    case 'DocumentFinalized': {
      const { id, content_type, size, sha256 } = event.data;
      const data = { id, patient, content_type, size, sha256 };
      return makeEvent(stored, TYPES[event.type], subscriber, record, data);
    }
    case 'ConsentGranted':
      return makeEvent(stored, TYPES[event.type], subscriber, record, grantIn(event.data));
    case 'ConsentRevoked':
      return makeEvent(stored, TYPES[event.type], subscriber, record, {
        ...grantIn(event.data),
        revoked_at: metadata.recorded_at,
        reason: event.data.reason,
      });
    case 'ProposalAccepted':
      return makeEvent(stored, TYPES[event.type], subscriber, record, {
        ...proposalIn(event.data),
        version: event.data.version,
      });
    case 'ProposalRejected':
      return makeEvent(stored, TYPES[event.type], subscriber, record, proposalIn(event.data));
    default:
      return untold(event.type);
  }
}

/** Returns the `cause` member of events that were written by a take-back or its undo: `takeback/tb_…`, `takeback/tb_…/undo`. */
function causeIn({ cause }: StoredEvent['metadata']): object {
  return cause?.startsWith('takeback/') === true ? { cause } : {};
}

/** Doesn't compile if `viewFor` lacks a case for an event type that subscribers receive. */
function untold(_type: Exclude<EventType, keyof typeof TYPES>): undefined {
  return undefined;
}

/** The members of a grant that its application receives: the Patient's pairwise id, but nothing about the person. */
type ToldGrant = Omit<
  Extract<StoredEvent['event'], { readonly type: 'ConsentRevoked' }>['data'],
  'project_id' | 'environment' | 'reason' | 'note'
>;

function grantIn({ grant_id, patient, application_id, scopes, purpose, expires_at }: ToldGrant): ToldGrant {
  return { grant_id, patient, application_id, scopes, purpose, expires_at };
}

/** Returns the data of a proposal that its application receives: ids and the type, but nothing about the person. */
function proposalIn({
  proposal_id,
  patient,
  application_id,
  resource_type,
  resource_id: id,
}: Omit<Extract<StoredEvent['event'], { readonly type: 'ProposalRejected' }>['data'], 'note'>): object {
  // The application knows the Patient only by the pairwise id.
  const shown = resource_type === 'Patient' ? patient : id;
  const told = { proposal_id, patient, application_id, resource_type };
  return shown === undefined ? told : { ...told, id: shown };
}

function makeEvent(
  { id, metadata }: StoredEvent,
  type: WebhookEventType,
  subscriber: Subscriber,
  record: string | undefined,
  data: object,
): WebhookEvent {
  const event = { id: eventId(id, type, subscriber), type, at: metadata.recorded_at };
  const view = webhookEvent(event, subscriber, data, record);
  const { patient } = subscriber;
  if (record === undefined || patient === undefined) return view;
  // Names and source systems are free text, so they might contain the real id.
  return { ...view, payload: view.payload.replaceAll(new RegExp(record, 'gi'), patient) };
}

/**
 * Returns the test delivery for a ping.
 * @param at a FHIR instant
 */
export function pingEvent(id: string, at: string, tenant: Tenant, endpointId: string): WebhookEvent {
  return webhookEvent({ id, type: 'ping', at }, tenant, { endpoint: endpointId }, undefined);
}

/**
 * Returns `evt_` and 22 characters, which are the same for the same log event and type and, for applications with a grant, the
 * same sector.
 */
export function eventId(logEventId: string, type: WebhookEventType, subscriber?: Subscriber): string {
  const { project, environment, sector } = subscriber ?? {};
  const whose = sector === undefined ? '' : `/${JSON.stringify([project, environment, sector])}`;
  const bytes = hash('sha256', `${logEventId}/${type}${whose}`, 'buffer');
  return `evt_${bytes.subarray(0, 16).toString('base64url')}`;
}

function webhookEvent(
  { id, type, at }: { readonly id: string; readonly type: WebhookEventType; readonly at: string },
  { environment, project }: Tenant,
  data: object,
  record: string | undefined,
): WebhookEvent {
  const body = { id, type, created_at: milliseconds(at), environment, project, data };
  return { id, type, record, payload: JSON.stringify(body) };
}

/** Returns the members that are added if another project wrote the event: names from that project's directory at that time. */
function external({ metadata }: StoredEvent, subscriber: Tenant): object {
  const { credential, author, acting_as_display, source_system: sourceSystem } = metadata;
  if (credential.project === subscriber.project && credential.environment === subscriber.environment)
    return {};
  // The operator of the installation writes on behalf of the project.
  if (credential.kind === 'system') return {};
  const organization = (metadata.on_behalf_of ?? metadata.organization)?.display;
  const practitioner = author?.display ?? acting_as_display;
  return {
    external: true,
    source: {
      author_type: author?.type ?? 'import',
      ...(organization === undefined ? {} : { organization }),
      ...(practitioner === undefined ? {} : { practitioner }),
      ...(sourceSystem === undefined ? {} : { source_system: sourceSystem }),
    },
  };
}

/** Shortens `2026-11-21T09:30:00.123456Z` to milliseconds. */
function milliseconds(instant: string): string {
  return `${instant.slice(0, 23)}Z`;
}
