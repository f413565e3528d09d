/**
 * Guests: applications that are registered from their own metadata documents, in a project that belongs to the installation
 * (docs/spec/decisions.md, section 9, "Guests").
 */
import { createHash } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';
import type { PlainEvent } from '#src/events/catalog.ts';
import type { Position } from '#src/events/store.ts';
import { applicationStream, organizationStream, projectStream } from '#src/events/streams.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import { GUESTS } from '#src/shared/access/guests.ts';
import type { RequestContext } from '../command.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { Streams } from '../kernel/streams.ts';
import { create as createOrganization } from '../organization/decide.ts';
import { ORGANIZATION } from '../organization/state.ts';
import { create as createProject } from '../project/decide.ts';
import { PROJECT, type ProjectState } from '../project/state.ts';
import type { Registered } from './decide.ts';
import { type NewApplication, registration } from './registration.ts';
import { APPLICATION, type ApplicationState } from './state.ts';

/** A guest as its document describes it. */
export interface NewGuest
  extends Pick<NewApplication, 'name' | 'redirect_uris' | 'scopes' | 'grant_types' | 'privacy_url'> {
  /** The URL of its document. */
  readonly client_id: string;
  readonly environment: Environment;
  /** The host of its document: guests from one host get the same pairwise ids. */
  readonly sector: string;
}

/** The commands. */
export interface GuestCommands {
  /**
   * Registers a guest, or updates its registration if its document has changed.
   * @returns the position to wait for
   */
  readonly admit: (by: RequestContext, guest: NewGuest) => Promise<Position | undefined>;
  /** Deletes a guest, if it is registered. */
  readonly forget: (by: RequestContext, applicationId: string) => Promise<Position | undefined>;
}

/** Returns the id of a guest's application, which stays the same each time its document is read. */
export function guestApplicationId(clientId: string): string {
  return `app_${createHash('sha256').update(`guest ${clientId}`).digest().subarray(0, 16).toString('base64url')}`;
}

/** Opens the commands. */
export function openGuestCommands(kernel: Kernel): GuestCommands {
  const organizations = new Streams(kernel, ORGANIZATION);
  const projects = new Streams(kernel, PROJECT);
  const applications = new Streams(kernel, APPLICATION);
  /** Creates the organization and the project for the installation's first guest. */
  const found = async (by: RequestContext): Promise<void> => {
    const { state } = await projects.read(projectStream(GUESTS.project));
    if (state.status !== 'none') return;
    await organizations.transact(organizationStream(GUESTS.organization), by, (organization) =>
      organization.exists ? [] : createOrganization(GUESTS.organization, 'Guests')(organization),
    );
    await projects.transact(projectStream(GUESTS.project), by, (project) =>
      project.status === 'none' ? createProject(GUESTS.project, GUESTS.organization, 'guests')(project) : [],
    );
  };
  return {
    async admit(by, { client_id, ...asked }) {
      await found(by);
      const id = guestApplicationId(client_id);
      const ids = { application: id, project: GUESTS.project, client: client_id };
      const { data } = registration(ids, { ...asked, kind: 'public' }, undefined);
      return (await applications.transact(applicationStream(id), by, admit(data)))?.position;
    },
    async forget(by, id) {
      return (await applications.transact(applicationStream(id), by, forget(id)))?.position;
    },
  };
}

/** Registers a guest; registers it again if it was deleted or its document has changed. */
export function admit(data: Registered) {
  return ({ status, registered }: ApplicationState): PlainEvent[] =>
    status === 'registered' && isDeepStrictEqual(registered, data)
      ? []
      : [{ type: 'ApplicationRegistered', data }];
}

/** Deletes a guest. Several instances may try to delete the same guest. */
export function forget(id: string) {
  return ({ status }: ApplicationState): PlainEvent[] =>
    status === 'registered' ? [{ type: 'ApplicationDeleted', data: { application_id: id } }] : [];
}

/**
 * Blocks the guests from a host and its subdomains, for the operator.
 * @param host in lower case
 */
export function blockHost(host: string) {
  return (state: ProjectState): PlainEvent[] =>
    state.blocked.has(host) ? [] : [{ type: 'GuestHostBlocked', data: { host } }];
}

/** Accepts guests from a host again. */
export function unblockHost(host: string) {
  return (state: ProjectState): PlainEvent[] =>
    state.blocked.has(host) ? [{ type: 'GuestHostUnblocked', data: { host } }] : [];
}
