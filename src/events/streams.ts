/** Names of streams: one per record, per directory, per project, per organization, per application, per webhook endpoint. */
import type { Tenant } from '../shared/tenant.ts';

/** A patient's record, everything in it. */
export const recordStream = (patientId: string): string => `record-${patientId}`;

/** A project's directory in one environment: practitioners, organizations, locations, medications, devices. */
export const directoryStream = (tenant: Tenant): string =>
  `directory-${tenant.project}-${tenant.environment}`;

/** A project's own facts: keys, erasures. */
export const projectStream = (projectId: string): string => `project-${projectId}`;

/** An organization's own facts. */
export const organizationStream = (organizationId: string): string => `organization-${organizationId}`;

/** An OAuth application's own facts. */
export const applicationStream = (applicationId: string): string => `application-${applicationId}`;

/** A webhook endpoint's own facts. */
export const webhookStream = (endpointId: string): string => `webhook-${endpointId}`;

/** The patient whose record a stream is, or undefined when it is another kind of stream. */
export function patientOf(stream: string): string | undefined {
  return stream.startsWith('record-') ? stream.slice('record-'.length) : undefined;
}

const KINDS = ['record-', 'directory-', 'project-', 'organization-', 'application-', 'webhook-'];

/** Whether a text has the form of a stream's name. */
export function isStreamName(text: string): boolean {
  return KINDS.some((kind) => text.startsWith(kind) && text.length > kind.length);
}

/** Whether a stream holds versions of resources. */
export function holdsResources(stream: string): boolean {
  return stream.startsWith('record-') || stream.startsWith('directory-');
}
