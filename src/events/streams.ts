/** Names of streams: one per record, per directory, per project, per organization, per application, per webhook endpoint. */
import type { Tenant } from '../shared/tenant.ts';

/** Returns the stream of a patient's record. */
export const recordStream = (patientId: string): string => `record-${patientId}`;

/**
 * Returns the stream of a project's directory in one environment: practitioners, organizations, locations,
 * medications, devices.
 */
export const directoryStream = (tenant: Tenant): string =>
  `directory-${tenant.project}-${tenant.environment}`;

/** Returns the stream of a project: its keys, its erasures. */
export const projectStream = (projectId: string): string => `project-${projectId}`;

/** Returns the stream of an organization. */
export const organizationStream = (organizationId: string): string => `organization-${organizationId}`;

/** Returns the stream of an OAuth application. */
export const applicationStream = (applicationId: string): string => `application-${applicationId}`;

/** Returns the stream of a webhook endpoint. */
export const webhookStream = (endpointId: string): string => `webhook-${endpointId}`;

/** Returns the patient whose record a stream is, or undefined for other streams. */
export function patientOf(stream: string): string | undefined {
  return stream.startsWith('record-') ? stream.slice('record-'.length) : undefined;
}

const KINDS = ['record-', 'directory-', 'project-', 'organization-', 'application-', 'webhook-'];

/** Returns true if a text has the form of a stream's name. */
export function isStreamName(text: string): boolean {
  return KINDS.some((kind) => text.startsWith(kind) && text.length > kind.length);
}

/** Returns true if a stream holds versions of resources. */
export function holdsResources(stream: string): boolean {
  return stream.startsWith('record-') || stream.startsWith('directory-');
}
