import type { WebhookCommands } from '#commands/webhook/commands.ts';
import type { Endpoint, WebhookQueries } from '#queries/webhooks/endpoints.ts';
import type { LedgerQueries, LoggedDelivery } from '#queries/webhooks/ledger.ts';
import type { Position } from './position.ts';

/** A replay that an endpoint's owner orders. Times are microseconds since 1970, both inclusive. */
export interface ReplayOrder {
  readonly id: string;
  readonly endpointId: string;
  readonly from: number;
  readonly to: number;
  readonly types: readonly string[];
}

/** The services that the routes of webhooks use. */
export interface WebhookServices {
  readonly commands: WebhookCommands;
  readonly queries: WebhookQueries;
  readonly ledger: LedgerQueries;
  /**
   * Makes a test delivery and waits up to 5 s for the attempt. A paused endpoint's delivery waits until it is resumed.
   * @param at FHIR instant
   * @returns undefined if the endpoint was deleted meanwhile
   */
  readonly ping: (endpoint: Endpoint, eventId: string, at: string) => Promise<LoggedDelivery | undefined>;
  /**
   * Makes a delivery due now and waits up to 5 s for the attempt. A paused endpoint's delivery isn't sent.
   * @returns undefined if the endpoint has no delivery of that id
   */
  readonly redeliver: (endpoint: Endpoint, id: string) => Promise<LoggedDelivery | undefined>;
  /** Makes all deliveries that were given up due now. @returns how many */
  readonly redeliverExhausted: (endpointId: string) => Promise<number>;
  /** Starts a replay of the current log. @returns false while another of the endpoint runs */
  readonly beginReplay: (order: ReplayOrder) => Promise<boolean>;
  /** Ends the running replay: events that were not sent are dropped. */
  readonly cancelReplay: (endpointId: string) => Promise<unknown>;
  /** Waits until the read model `webhooks` shows a position. @throws Refusal unavailable (503) */
  readonly awaitWebhooks: (position: Position | undefined) => Promise<void>;
  /** Starts sending the endpoints' due deliveries at once. */
  readonly wake: (endpointIds: readonly string[]) => void;
}
