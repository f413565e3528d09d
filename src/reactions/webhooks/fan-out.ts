/**
 * Creates deliveries in the ledger from events in the log: each event becomes a delivery to every endpoint that was subscribed
 * when the event was written. Follows the log in order, including the events about endpoints, and may repeat its work.
 */
import { hash } from 'node:crypto';
import type { StoredEvent } from '#src/events/catalog.ts';
import { understand } from '#src/events/codec.ts';
import type { RecordedEvent } from '#src/events/store.ts';
import type { Environment, Tenant } from '#src/shared/access/caller.ts';
import { type WebhookEventType, wants } from '#src/shared/webhook-types.ts';
import type { Grantee, Grantees } from './grantees.ts';
import { GRANT_TYPES, grantIn, type KnownGrant, together } from './grants.ts';
import { type GrantRows, KnownGrants } from './known-grants.ts';
import { listAudience, type Subscriber, TOLD, viewFor, type WebhookEvent } from './view.ts';

/** Types of events that fan-out acts on. */
export const FOLLOWED = [
  ...TOLD,
  'ConsentExpired',
  'WebhookEndpointCreated',
  'WebhookEndpointChanged',
  'WebhookEndpointDeleted',
  'ProjectDeleted',
];

export interface SubscribedEndpoint {
  readonly endpointId: string;
  readonly project: string;
  readonly environment: Environment;
  readonly events: readonly string[];
}

/** A row to be added to the ledger. */
export interface Delivery {
  readonly id: string;
  readonly endpointId: string;
  readonly eventId: string;
  readonly eventType: WebhookEventType;
  readonly record: string | null;
  readonly payload: string;
}

/** The ledger that fan-out writes to. */
export interface FanOutLedger {
  readonly subscribers: () => Promise<readonly SubscribedEndpoint[]>;
  readonly grants: GrantRows;
  readonly write: (
    changes: {
      readonly subscribed: readonly SubscribedEndpoint[];
      readonly ended: readonly string[];
      readonly grants: readonly KnownGrant[];
    },
    deliveries: readonly Delivery[],
  ) => Promise<void>;
}

/** The results of following a range of the log. */
class Outcome {
  readonly subscribed = new Map<string, SubscribedEndpoint>();
  readonly ended: string[] = [];
  readonly grants = new Map<string, KnownGrant>();
  readonly deliveries: Delivery[] = [];

  get isEmpty(): boolean {
    return this.subscribed.size + this.ended.length + this.grants.size + this.deliveries.length === 0;
  }
}

/** Creates deliveries for events, on the instance that leads. */
export class FanOut {
  /**
   * Endpoint id → endpoint, as of the position up to which the log was followed; undefined until the endpoints have been read.
   */
  #subscribers: Map<string, SubscribedEndpoint> | undefined;
  /** The grants as of the same position in the log. */
  readonly #grants: KnownGrants;

  /** @param wake called with the ids of the endpoints that have deliveries */
  constructor(
    readonly ledger: FanOutLedger,
    readonly grantees: Grantees,
    readonly wake: (endpointIds: readonly string[]) => void,
  ) {
    this.#grants = new KnownGrants(ledger.grants);
  }

  /** Reads subscribers and grants again, because another instance may have led in the meantime. */
  readonly begin = (): void => {
    this.#subscribers = undefined;
    this.#grants.clear();
  };

  /**
   * Takes the next events, in order.
   * @returns whether anything was written
   */
  readonly take = (events: readonly RecordedEvent[]): Promise<boolean> => this.#take(events, true);

  /**
   * Takes an event that may be older than events that were already taken.
   * @returns whether anything was written
   */
  readonly takeLate = (event: RecordedEvent): Promise<boolean> => this.#take([event], false);

  async #take(events: readonly RecordedEvent[], isNew: boolean): Promise<boolean> {
    const outcome = new Outcome();
    try {
      const subscribers = await this.#known();
      await this.#grants.load(
        events.filter(({ type }) => TOLD.has(type) && !GRANT_TYPES.has(type)),
        isNew,
      );
      for (const recorded of events) {
        const isTold = TOLD.has(recorded.type);
        if (subscribers.size === 0 && isTold && !GRANT_TYPES.has(recorded.type)) continue;
        const stored = understand(recorded);
        this.#takeGrant(stored, outcome);
        if (isTold) outcome.deliveries.push(...(await this.#readDeliveries(stored, subscribers)));
        else takeEndpoint(stored, subscribers, outcome);
      }
      this.#grants.trim();
      if (outcome.isEmpty) return false;
      const { subscribed, ended, grants, deliveries } = outcome;
      await this.ledger.write(
        { subscribed: [...subscribed.values()], ended, grants: [...grants.values()] },
        deliveries,
      );
    } catch (error) {
      this.begin();
      throw error;
    }
    this.wake([...new Set(outcome.deliveries.map(({ endpointId }) => endpointId))]);
    return true;
  }

  async #readDeliveries(
    stored: StoredEvent,
    subscribers: ReadonlyMap<string, SubscribedEndpoint>,
  ): Promise<Delivery[]> {
    const endpoints = [...subscribers.values()];
    const grants = this.#grants.on(stored.stream);
    return makeDeliveries(stored, endpoints, await granteesAmong(this.grantees, stored, grants, endpoints));
  }

  #takeGrant(stored: StoredEvent, { grants }: Outcome): void {
    const grant = grantIn(stored);
    if (grant === undefined) return;
    grants.set(grant.grantId, together(grant, grants.get(grant.grantId)));
    this.#grants.take(grant);
  }

  async #known(): Promise<Map<string, SubscribedEndpoint>> {
    if (this.#subscribers === undefined) {
      const all = await this.ledger.subscribers();
      this.#subscribers = new Map(all.map((each) => [each.endpointId, each]));
    }
    return this.#subscribers;
  }
}

/** Returns an event's grantees, limited to those whose projects have endpoints. */
export async function granteesAmong(
  grantees: Grantees,
  stored: StoredEvent,
  grants: readonly KnownGrant[],
  endpoints: readonly SubscribedEndpoint[],
): Promise<readonly Grantee[]> {
  if (grants.length === 0) return [];
  return grantees.of(stored, grants, (tenant) => endpoints.some((each) => isInTenant(each, tenant)));
}

/**
 * Returns an event's deliveries to endpoints.
 * @param grantees applications that also receive the event
 * @param series a different text results in different deliveries for the same events
 */
export function makeDeliveries(
  stored: StoredEvent,
  endpoints: Iterable<SubscribedEndpoint>,
  grantees: readonly Grantee[] = [],
  series = '',
): Delivery[] {
  const subscribers: readonly Subscriber[] = [...listAudience(stored), ...grantees];
  if (subscribers.length === 0) return [];
  const views = subscribers.map((subscriber) => ({ subscriber, view: viewFor(stored, subscriber) }));
  const found: Delivery[] = [];
  for (const endpoint of endpoints) {
    for (const { subscriber, view } of views) {
      if (view === undefined || !isInTenant(endpoint, subscriber)) continue;
      if (wants(endpoint.events, view.type)) found.push(makeDelivery(view, endpoint.endpointId, series));
    }
  }
  return found;
}

/** Returns a webhook event's delivery to an endpoint; the delivery's id is derived from both. */
export function makeDelivery(
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

function isInTenant(endpoint: Tenant, { project, environment }: Tenant): boolean {
  return endpoint.project === project && endpoint.environment === environment;
}

/** Applies an event about an endpoint to the subscribers. */
function takeEndpoint(
  stored: StoredEvent,
  subscribers: Map<string, SubscribedEndpoint>,
  { subscribed, ended }: Outcome,
): void {
  for (const gone of endedBy(stored, subscribers.values())) {
    subscribers.delete(gone);
    subscribed.delete(gone);
    ended.push(gone);
  }
  const endpoint = endpointIn(stored);
  if (endpoint === undefined) return;
  subscribers.set(endpoint.endpointId, endpoint);
  subscribed.set(endpoint.endpointId, endpoint);
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
