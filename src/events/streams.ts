/**
 * Defines the names of streams (one stream per record, directory, project, organization, application and webhook endpoint),
 * and the events that each kind of stream can contain.
 */
import type { Tenant } from '#src/shared/access/caller.ts';
import { CATALOG, type DomainEvent, type EventType } from './catalog.ts';

/** Returns the stream for a patient's record. */
export const recordStream = (patientId: string): string => `record-${patientId}`;

/**
 * Returns the stream for a project's directory in one environment: practitioners, organizations, locations, medications,
 * devices.
 */
export const directoryStream = (tenant: Tenant): string =>
  `directory-${tenant.project}-${tenant.environment}`;

/** Returns the stream for a project's own events, such as its keys and erasures. */
export const projectStream = (projectId: string): string => `project-${projectId}`;

/** Returns the stream for an organization. */
export const organizationStream = (organizationId: string): string => `organization-${organizationId}`;

/** Returns the stream for an OAuth application. */
export const applicationStream = (applicationId: string): string => `application-${applicationId}`;

/** Returns the stream for a webhook endpoint. */
export const webhookStream = (endpointId: string): string => `webhook-${endpointId}`;

/** Returns the patient to whose record a stream belongs; undefined for other streams. */
export function recordPatient(stream: string): string | undefined {
  return stream.startsWith('record-') ? stream.slice('record-'.length) : undefined;
}

const KINDS = ['record-', 'directory-', 'project-', 'organization-', 'application-', 'webhook-'];

/** Returns true if a text has the form of a stream's name. */
export function isStreamName(text: string): boolean {
  return KINDS.some((kind) => text.startsWith(kind) && text.length > kind.length);
}

/** Returns true if a stream contains versions of resources. */
export function holdsResources(stream: string): boolean {
  return stream.startsWith('record-') || stream.startsWith('directory-');
}

/** A kind of stream: its name up to the first hyphen. */
export type StreamKind = 'record' | 'directory' | 'project' | 'organization' | 'application' | 'webhook';

/** The names of the events that the given kinds of streams contain. */
type TypeOf<K extends StreamKind> = {
  [T in EventType]: (typeof CATALOG)[T]['streams'] extends `${string}${K}-${string}` ? T : never;
}[EventType];

/** The events that the given kinds of streams contain. */
export type EventOf<K extends StreamKind> = Extract<DomainEvent, { readonly type: TypeOf<K> }>;

/**
 * Thrown for an event that its stream can't contain, either because of a bug in the code that wrote it, or because the log is
 * damaged.
 */
export class ForeignEvent extends Error {
  override readonly name = 'ForeignEvent';
}

const HOLDERS: ReadonlyMap<string, ReadonlySet<string>> = new Map(
  Object.entries(CATALOG).map(([type, { streams }]) => [type, new Set(streams.split(', '))]),
);

/**
 * Checks that the catalogue allows an event of this type in a stream.
 * @throws ForeignEvent
 */
export function requireEventAllowed(stream: string, type: string): void {
  const kind = stream.slice(0, stream.indexOf('-') + 1);
  if (HOLDERS.get(type)?.has(kind)) return;
  throw new ForeignEvent(`${type} is not an event of the stream ${stream}`);
}
