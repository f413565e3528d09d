/** Founding: an organization, a project in it, an API key for it. Full administration comes with the admin API. */
import { createHash, randomBytes } from 'node:crypto';
import type { PlainEvent } from '#src/events/catalog.ts';
import type { Position } from '#src/events/store.ts';
import { organizationStream, projectStream } from '#src/events/streams.ts';
import { newId, newUuid } from '#src/shared/ids.ts';
import type { Environment } from '#src/shared/tenant.ts';
import type { MetadataBase } from '../command.ts';
import type { Handler } from '../handle.ts';

/** What a newcomer needs to begin. */
export interface Founded {
  readonly organization: string;
  readonly project: string;
  /** Shown this once; only its hash is in the events. */
  readonly key: string;
  readonly keyId: string;
  readonly position: Position;
}

/** What founding works with. */
export interface FoundingDeps {
  readonly handler: Handler;
  readonly now: () => number;
}

/** Opens an organization with one project and one key of the given environment (scopes read and write). */
export async function found(deps: FoundingDeps, name: string, environment: Environment): Promise<Founded> {
  const organization = newId('org_');
  const project = newId('proj_');
  const { key, event } = issueKey('quickstart', environment, ['read', 'write']);
  await record(deps, organizationStream(organization), [
    { type: 'OrganizationCreated', data: { organization_id: organization, name } },
  ]);
  const position = await record(deps, projectStream(project), [
    { type: 'ProjectCreated', data: { project_id: project, organization_id: organization, name } },
    event,
  ]);
  return { organization, project, key, keyId: event.data.key_id, position };
}

/** Another key of a project (scopes read and write). @returns the key, shown this once. */
export async function addKey(
  deps: FoundingDeps,
  project: string,
  environment: Environment,
): Promise<Pick<Founded, 'key' | 'position'>> {
  const { key, event } = issueKey('quickstart', environment, ['read', 'write']);
  return { key, position: await record(deps, projectStream(project), [event]) };
}

/** A new key of 256 random bits, and the event that makes it work (interface.md, section 5). */
export function issueKey(
  name: string,
  environment: Environment,
  scopes: ('read' | 'write')[],
): { key: string; event: Extract<PlainEvent, { type: 'ApiKeyCreated' }> } {
  const key = `${environment === 'sandbox' ? 'sk_test_' : 'sk_live_'}${randomBytes(32).toString('base64url')}`;
  const sha256 = createHash('sha256').update(key).digest('hex');
  const data = { key_id: newId('key_'), name, environment, scopes, sha256, last4: key.slice(-4) };
  return { key, event: { type: 'ApiKeyCreated', data } };
}

async function record(
  { handler, now }: FoundingDeps,
  stream: string,
  events: readonly PlainEvent[],
): Promise<Position> {
  const metadata: MetadataBase = {
    schema_version: 1,
    request_id: newId('req_'),
    command_id: newUuid(),
    credential: { kind: 'system' },
  };
  const { position } = await handler.handle<void>({
    stream,
    metadata,
    now,
    touches: [],
    decide: (_, clock) => ({
      drafts: events.map((event) => ({ id: newUuid(), at: clock.next(), event })),
      result: undefined,
    }),
  });
  if (position === undefined) throw new TypeError('founding writes events');
  return position;
}
