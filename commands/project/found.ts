/** Creates an organization, a project in it and an API key in one command. */
import type { Position } from '#src/events/store.ts';
import { organizationStream, projectStream } from '#src/events/streams.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import type { Person } from '#src/shared/access/member.ts';
import { IdSource, newId, newUuid } from '#src/shared/ids.ts';
import type { Micros } from '#src/shared/time/time.ts';
import type { RequestContext, Wrote } from '../command.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { Streams } from '../kernel/streams.ts';
import { create as createOrganization } from '../organization/decide.ts';
import { ORGANIZATION, type OrganizationState } from '../organization/state.ts';
import { provisioningRequested } from '../sandbox/request.ts';
import { drawSecret } from '../secret.ts';
import { createKey, create as createProject } from './decide.ts';
import { issueKey } from './key.ts';
import { PROJECT, type ProjectState } from './state.ts';

/** The result: everything that a new developer needs. */
export interface Founded {
  readonly organization: string;
  readonly project: string;
  /** Shown only in this response; the events contain only its hash. */
  readonly key: string;
  readonly keyId: string;
  readonly position: Position;
  /** The time at which the project was created. */
  readonly at: Micros;
  readonly organizationAt: Micros;
}

/** Dependencies. */
export interface FoundingDeps {
  readonly kernel: Kernel;
  readonly now: () => number;
  /** Number of synthetic patients in the project's sandbox, 0 to 30. Default: none. */
  readonly sandboxPatients?: number;
}

/** The project to create and its founder; without a founder, the service itself creates the project. */
export interface Founding {
  readonly name: string;
  readonly environment: Environment;
  readonly founder?: Person;
  /** Number of synthetic patients in the project's sandbox, 0 to 30. Default: none. */
  readonly sandboxPatients?: number;
}

/** The streams that founding a project writes to. */
export interface FoundingStreams {
  readonly organizations: Streams<OrganizationState>;
  readonly projects: Streams<ProjectState>;
}

const SCOPES = ['read', 'write'] as const;
const KEY_NAME = 'quickstart';

/**
 * Creates an organization with one project, which has one key for the given environment (scopes read and write), for the
 * service.
 * @param founder the organization's owner; without a founder the organization has no members
 */
export async function found(
  deps: FoundingDeps,
  name: string,
  environment: Environment,
  founder?: Person,
): Promise<Founded> {
  const streams = {
    organizations: new Streams(deps.kernel, ORGANIZATION),
    projects: new Streams(deps.kernel, PROJECT),
  };
  return foundFor(streams, ofService(deps), {
    name,
    environment,
    ...(founder === undefined ? {} : { founder }),
    sandboxPatients: deps.sandboxPatients ?? 0,
  });
}

/**
 * Creates the same as `found`, but for a caller. If a request crashed between the two streams, a retry continues where it
 * stopped.
 */
export async function foundFor(
  { organizations, projects }: FoundingStreams,
  by: RequestContext,
  { name, environment, founder, sandboxPatients = 0 }: Founding,
): Promise<Founded> {
  const { ids } = by;
  const organization = ids.prefixed('org_');
  const project = ids.prefixed('proj_');
  const keyId = ids.prefixed('key_');
  const secret = await drawSecret(by);
  const { key, event } = issueKey(keyId, { name: KEY_NAME, environment, scopes: SCOPES }, secret);
  const opening = createOrganization(organization, name, founder);
  const opened = written(await organizations.transact(organizationStream(organization), by, opening));
  const filling = provisioningRequested({ ...by, patients: sandboxPatients });
  const begin = createProject(project, organization, name, [event, ...filling]);
  const wrote = written(await projects.transact(projectStream(project), by, begin));
  return { organization, project, key, keyId, ...wrote, organizationAt: opened.at };
}

/**
 * Adds a key to a project (scopes read and write), for the service.
 * @returns the key, which can't be shown again
 */
export async function addKey(
  deps: FoundingDeps,
  project: string,
  environment: Environment,
): Promise<Pick<Founded, 'key' | 'position'>> {
  const by = ofService(deps);
  const keyId = by.ids.prefixed('key_');
  const { key, event } = issueKey(
    keyId,
    { name: KEY_NAME, environment, scopes: SCOPES },
    await drawSecret(by),
  );
  const projects = new Streams(deps.kernel, PROJECT);
  const wrote = await projects.transact(projectStream(project), by, createKey(project, event));
  return { key, position: written(wrote).position };
}

/** Returns the context for events that the service writes without a caller. */
function ofService({ now }: FoundingDeps): RequestContext {
  return {
    credential: { kind: 'system' },
    requestId: newId('req_'),
    ids: new IdSource(newUuid(), Date.now()),
    now,
  };
}

function written(wrote: Wrote | undefined): Wrote {
  if (wrote === undefined) throw new TypeError('founding writes events');
  return wrote;
}
