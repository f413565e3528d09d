/** Decisions about a webhook endpoint. Pure. */
import type { PlainEvent } from '#src/events/catalog.ts';
import type { Tenant } from '#src/shared/access/caller.ts';
import { notFound } from '#src/shared/refusal.ts';
import type { WebhookSettings, WebhookState } from './state.ts';

/** Settings to be changed. */
export type WebhookChange = { readonly [K in keyof WebhookSettings]?: WebhookSettings[K] | undefined };

/**
 * Creates an endpoint.
 * @param secret encrypted
 */
export function create(
  id: string,
  { project, environment }: Tenant,
  settings: WebhookSettings,
  secret: string,
) {
  return ({ status }: WebhookState): PlainEvent[] => {
    if (status !== 'none') throw new TypeError(`${id} already exists`);
    const data = { endpoint_id: id, project_id: project, environment, ...toEventData(settings), secret };
    return [{ type: 'WebhookEndpointCreated', data }];
  };
}

/** Changes an endpoint's settings; writes no event if they stay the same. */
export function change(id: string, { url, events, description, active }: WebhookChange) {
  return (state: WebhookState): PlainEvent[] => {
    requireOpen(state, id);
    const { settings: old, project, environment } = state;
    const settings = {
      url: url ?? old.url,
      events: events ?? old.events,
      description: description === undefined ? old.description : description,
      active: active ?? old.active,
    };
    const same =
      settings.url === old.url &&
      settings.description === old.description &&
      settings.active === old.active &&
      settings.events.join() === old.events.join();
    const data = { project_id: project, environment, ...toEventData(settings) };
    return same ? [] : [{ type: 'WebhookEndpointChanged', data }];
  };
}

/**
 * Gives an endpoint a new secret.
 * @param secret encrypted
 */
export function rotate(id: string, secret: string) {
  return (state: WebhookState): PlainEvent[] => {
    requireOpen(state, id);
    return [{ type: 'WebhookSecretRotated', data: { secret } }];
  };
}

/** Deletes it. */
export function remove(id: string) {
  return (state: WebhookState): PlainEvent[] => {
    requireOpen(state, id);
    return [{ type: 'WebhookEndpointDeleted', data: { endpoint_id: id, project_id: state.project } }];
  };
}

function requireOpen({ status }: WebhookState, id: string): void {
  if (status !== 'open') throw notFound('webhook', id);
}

function toEventData({ url, events, description, active }: WebhookSettings) {
  return { url, events: [...events], description, active };
}
