/** Decisions about projects and their keys. Pure. */
import type { PlainEvent } from '#src/events/catalog.ts';
import { notFound } from '#src/shared/refusal.ts';
import { type ProductionRule, requireAccess } from './production.ts';
import { type ProjectState, requireOpen } from './state.ts';

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

/** Makes a key work. @throws Refusal forbidden for one of production that an operator must allow first. */
export function createKey(id: string, key: ApiKeyCreated, rule: ProductionRule = { access: 'open' }) {
  return (state: ProjectState): PlainEvent[] => {
    requireAccess(state, id, { ...rule, what: 'keys', environment: key.data.environment });
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
