/** Decisions about projects and their keys. Pure. */
import type { PlainEvent } from '#src/events/catalog.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import type { Environment } from '#src/shared/tenant.ts';
import type { ProjectState } from './state.ts';

type ApiKeyCreated = Extract<PlainEvent, { type: 'ApiKeyCreated' }>;

/** Creates a project in an organization, together with its first key and the request to fill its sandbox. */
export function create(id: string, organization: string, name: string, first: readonly PlainEvent[] = []) {
  return ({ status }: ProjectState): PlainEvent[] => {
    if (status !== 'none') throw new TypeError(`${id} already exists`);
    const data = { project_id: id, organization_id: organization, name };
    return [{ type: 'ProjectCreated', data }, ...first];
  };
}

/** Closes it. */
export function remove(id: string) {
  return (state: ProjectState): PlainEvent[] => {
    requireOpen(state, id);
    return [{ type: 'ProjectDeleted', data: { project_id: id } }];
  };
}

/**
 * The projects that get production keys and applications: all, or those that an operator has allowed
 * (docs/spec/interface.md, section 1).
 */
export type ProductionAccess = 'open' | 'request';

/** Makes a key work. @throws Refusal forbidden for one of production that an operator must allow first. */
export function createKey(id: string, key: ApiKeyCreated, access: ProductionAccess = 'open') {
  return (state: ProjectState): PlainEvent[] => {
    requireAccess(state, id, { what: 'keys', environment: key.data.environment, access });
    return [key];
  };
}

/**
 * Checks that a project is open and may make keys, applications or tokens of an environment.
 * @param asked what is made, where, and which projects get production.
 * @throws Refusal not_found for a missing or closed project; forbidden for production that an operator must allow first
 */
export function requireAccess(
  state: Readonly<ProjectState>,
  id: string,
  asked: {
    readonly what: 'keys' | 'applications' | 'tokens';
    readonly environment: Environment;
    readonly access: ProductionAccess;
  },
): void {
  const { what, environment, access } = asked;
  requireOpen(state, id);
  if (environment !== 'production' || access === 'open' || state.production) return;
  throw new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: `production ${what} need approval here: ask the operator of this installation to run \`annal production allow ${id}\`; sandbox ${what} need no approval`,
  });
}

/** Allows a project to create production keys and applications, or withdraws the permission; no event if nothing changes. */
export function setProductionAccess(id: string, allowed: boolean) {
  return (state: ProjectState): PlainEvent[] => {
    requireOpen(state, id);
    if (state.production === allowed) return [];
    const type = allowed ? 'ProductionAccessAllowed' : 'ProductionAccessWithdrawn';
    return [{ type, data: { project_id: id } }];
  };
}

/** Stops a key; one that was revoked before stays so. @throws Refusal not_found for one that was never there. */
export function revokeKey(id: string, keyId: string) {
  return (state: ProjectState): PlainEvent[] => {
    requireOpen(state, id);
    const works = state.keys.get(keyId);
    if (works === undefined) throw notFound('key', keyId);
    return works ? [{ type: 'ApiKeyRevoked', data: { key_id: keyId } }] : [];
  };
}

/**
 * Checks that a project is open.
 * @throws Refusal not_found for a missing or closed project
 */
function requireOpen({ status }: Readonly<ProjectState>, id: string): void {
  if (status !== 'open') throw notFound('project', id);
}
