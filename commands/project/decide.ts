/** What may happen to a project and its keys. Pure. */
import type { PlainEvent } from '#src/events/catalog.ts';
import { notFound } from '#src/shared/refusal.ts';
import type { ProjectState } from './state.ts';

type ApiKeyCreated = Extract<PlainEvent, { type: 'ApiKeyCreated' }>;

/** Opens it in an organization; with what comes at once: its first key, that its sandbox is to be filled. */
export function create(id: string, organization: string, name: string, first: readonly PlainEvent[] = []) {
  return ({ status }: ProjectState): PlainEvent[] => {
    if (status !== 'none') throw new TypeError(`${id} is there already`);
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

/** Makes a key work. */
export function createKey(id: string, key: ApiKeyCreated) {
  return (state: ProjectState): PlainEvent[] => {
    requireOpen(state, id);
    return [key];
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

/** @throws Refusal not_found for a project that is not there, or closed. */
export function requireOpen({ status }: Readonly<ProjectState>, id: string): void {
  if (status !== 'open') throw notFound('project', id);
}
