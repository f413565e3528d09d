/** The parts of a webhook endpoint's state that decisions need. */
import type { EventOf } from '#src/events/streams.ts';
import type { Environment } from '#src/shared/access/caller.ts';
import type { Fold } from '../kernel/kernel.ts';

/** The settings that the endpoint's owner chooses (docs/spec/interface.md, section 2.6). */
export interface WebhookSettings {
  readonly url: string;
  /** Event types, or only `*` for all. */
  readonly events: readonly string[];
  readonly description: string | null;
  readonly active: boolean;
}

/** The state of an endpoint; `settings` is set once the endpoint has been created. */
export interface WebhookState {
  status: 'none' | 'open' | 'deleted';
  project: string;
  environment: Environment;
  settings: WebhookSettings;
}

/** The fold of `webhook-` streams. */
export const WEBHOOK: Fold<WebhookState, EventOf<'webhook'>> = {
  name: 'webhook',
  kinds: ['webhook'],
  initial: () => ({
    status: 'none',
    project: '',
    environment: 'sandbox',
    settings: { url: '', events: [], description: null, active: false },
  }),
  evolve,
  estimateSize: ({ settings }) => 300 + settings.url.length * 2 + (settings.description?.length ?? 0) * 2,
};

function evolve(state: WebhookState, event: EventOf<'webhook'>): void {
  switch (event.type) {
    case 'WebhookEndpointCreated':
      state.status = 'open';
      state.project = event.data.project_id;
      state.environment = event.data.environment;
      state.settings = event.data;
      break;
    case 'WebhookEndpointChanged':
      state.settings = event.data;
      break;
    case 'WebhookEndpointDeleted':
      state.status = 'deleted';
      break;
    case 'WebhookSecretRotated':
      break;
    default:
      event satisfies never;
  }
}
