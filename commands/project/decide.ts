/** Decisions about projects and their keys. Pure. */
import type { PlainEvent } from '#src/events/catalog.ts';
import { notFound } from '#src/shared/refusal.ts';
import { type ProductionRule, requireAccess } from './production.ts';
import { type ProjectState, requireOpen } from './state.ts';

type ApiKeyCreated = Extract<PlainEvent, { type: 'ApiKeyCreated' }>;

/** Creates a project in an organization, including its first key and a request to fill its sandbox. */
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
 * Activates a key.
 * @throws Refusal forbidden for a production key that an operator must allow first
 */
export function createKey(id: string, key: ApiKeyCreated, rule: ProductionRule = { access: 'open' }) {
  return (state: ProjectState): PlainEvent[] => {
    requireAccess(state, id, { ...rule, what: 'keys', environment: key.data.environment });
    return [key];
  };
}

/**
 * Revokes a key; does nothing if it is already revoked.
 * @throws Refusal not_found for an unknown key
 */
export function revokeKey(id: string, keyId: string) {
  return (state: ProjectState): PlainEvent[] => {
    requireOpen(state, id);
    const works = state.keys.get(keyId);
    if (works === undefined) throw notFound('key', keyId);
    return works ? [{ type: 'ApiKeyRevoked', data: { key_id: keyId } }] : [];
  };
}
