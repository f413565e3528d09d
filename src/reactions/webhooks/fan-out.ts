/**
 * Writes deliveries from the log to the ledger: each event becomes a delivery to every endpoint that was subscribed
 * when it was written. It follows the log in order, events of endpoints included, and may repeat its work.
 */
import { hash } from 'node:crypto';
import type { StoredEvent } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import type { RecordedEvent } from '#src/events/store.ts';
import type { Environment } from '#src/shared/tenant.ts';
import { type WebhookEventType, wants } from '#src/shared/webhook-types.ts';
import { audienceOf, TOLD, viewFor, type WebhookEvent } from './view.ts';

/** Types of events that it acts on. */
export const FOLLOWED = [
  ...TOLD,
  'WebhookEndpointCreated',
  'WebhookEndpointChanged',
  'WebhookEndpointDeleted',
  'ProjectDeleted',
];

/** A subscribed endpoint. */
export interface SubscribedEndpoint {
  readonly endpointId: string;
  readonly project: string;
  readonly environment: Environment;
  readonly events: readonly string[];
}

/** A row of the ledger to be. */
export interface Delivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: WebhookEventType;
  readonly record: string | null;
  readonly payload: string;
}

/** The ledger that it writes to. */
export interface FanOutLedger {
  readonly subscribers: () => Promise<readonly SubscribedEndpoint[]>;
  readonly write: (
    changes: { readonly subscribed: readonly SubscribedEndpoint[]; readonly ended: readonly string[] },
    deliveries: readonly Delivery[],
  ) => Promise<void>;
}

/** Makes deliveries of events, on the instance that leads. */
export class FanOut {
  /** Endpoint id → endpoint, as of where the log was followed to; undefined before they are read. */
  #subscribers: Map<string, SubscribedEndpoint> | undefined;

  /** @param wake called with the endpoints that have deliveries */
  constructor(
    readonly ledger: FanOutLedger,
    readonly wake: (endpointIds: readonly string[]) => void,
  ) {}

  /** Reads the subscribers again: another instance may have led meanwhile. */
  readonly begin = (): void => {
    this.#subscribers = undefined;
  };

  /** Takes the next events in order. @returns whether anything was written. */
  readonly take = async (events: readonly RecordedEvent[]): Promise<boolean> => {
    const subscribers = await this.#known();
    const subscribed = new Map<string, SubscribedEndpoint>();
    const ended: string[] = [];
    const deliveries: Delivery[] = [];
    try {
      for (const recorded of events) {
        if (subscribers.size === 0 && TOLD.has(recorded.type)) continue;
        const stored = understand(recorded);
        if (TOLD.has(stored.event.type)) {
          deliveries.push(...deliveriesOf(stored, subscribers.values()));
          continue;
        }
        for (const gone of endedBy(stored, subscribers.values())) {
          subscribers.delete(gone);
          subscribed.delete(gone);
          ended.push(gone);
        }
        const endpoint = endpointIn(stored);
        if (endpoint === undefined) continue;
        subscribers.set(endpoint.endpointId, endpoint);
        subscribed.set(endpoint.endpointId, endpoint);
      }
      if (subscribed.size + ended.length + deliveries.length === 0) return false;
      await this.ledger.write({ subscribed: [...subscribed.values()], ended }, deliveries);
    } catch (error) {
      this.begin();
      throw error;
    }
    this.wake([...new Set(deliveries.map(({ endpointId }) => endpointId))]);
    return true;
  };

  async #known(): Promise<Map<string, SubscribedEndpoint>> {
    if (this.#subscribers === undefined) {
      const all = await this.ledger.subscribers();
      this.#subscribers = new Map(all.map((each) => [each.endpointId, each]));
    }
    return this.#subscribers;
  }
}

/**
 * Returns the deliveries of an event to endpoints.
 * @param series a different text gives different deliveries of the same events
 */
export function deliveriesOf(
  stored: StoredEvent,
  endpoints: Iterable<SubscribedEndpoint>,
  series = '',
): Delivery[] {
  const audience = audienceOf(stored);
  if (audience.length === 0) return [];
  const views = audience.map((tenant) => ({
    tenant,
    view: viewFor(stored, { ...tenant, patientId: (record) => record }),
  }));
  const found: Delivery[] = [];
  for (const { endpointId, project, environment, events } of endpoints) {
    for (const { tenant, view } of views) {
      if (view === undefined || tenant.project !== project || tenant.environment !== environment) continue;
      if (wants(events, view.type)) found.push(deliveryOf(view, endpointId, series));
    }
  }
  return found;
}

/** Returns the delivery of a webhook event to an endpoint; its id is derived from both. */
export function deliveryOf(
  { id, type, record, payload }: WebhookEvent,
  endpointId: string,
  series = '',
): Delivery {
  const bytes = hash('sha256', `${endpointId}/${id}/${series}`, 'buffer');
  return {
    id: `whd_${bytes.subarray(0, 16).toString('base64url')}`,
    endpointId,
    eventId: id,
    eventType: type,
    record: record ?? null,
    payload,
  };
}

function endpointIn({ event, stream }: StoredEvent): SubscribedEndpoint | undefined {
  if (event.type !== 'WebhookEndpointCreated' && event.type !== 'WebhookEndpointChanged') return undefined;
  const { project_id: project, environment, events } = event.data;
  return { endpointId: stream.slice(stream.indexOf('-') + 1), project, environment, events };
}

function endedBy({ event }: StoredEvent, subscribers: Iterable<SubscribedEndpoint>): string[] {
  if (event.type === 'WebhookEndpointDeleted') return [event.data.endpoint_id];
  if (event.type !== 'ProjectDeleted') return [];
  return [...subscribers]
    .filter(({ project }) => project === event.data.project_id)
    .map(({ endpointId }) => endpointId);
}
