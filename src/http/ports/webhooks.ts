import type { WebhookCommands } from '#commands/webhook/commands.ts';
import type { Endpoint, WebhookQueries } from '#queries/webhooks/endpoints.ts';
import type { LedgerQueries, LoggedDelivery } from '#queries/webhooks/ledger.ts';
import type { Position } from './position.ts';

/** A replay requested by an endpoint's owner. Times are in microseconds since 1970, both inclusive. */
export interface ReplayOrder {
  readonly id: string;
  readonly endpointId: string;
  readonly from: number;
  readonly to: number;
  readonly types: readonly string[];
}

/** The services that webhook routes use. */
export interface WebhookServices {
  readonly commands: WebhookCommands;
  readonly queries: WebhookQueries;
  readonly ledger: LedgerQueries;
  /**
   * Creates a test delivery and waits up to 5 s for the attempt. If the endpoint is paused, the delivery waits until the
   * endpoint is resumed.
   * @param at FHIR instant
   * @returns undefined if the endpoint has been deleted in the meantime
   */
  readonly ping: (endpoint: Endpoint, eventId: string, at: string) => Promise<LoggedDelivery | undefined>;
  /**
   * Makes a delivery due immediately and waits up to 5 s for the attempt. If the endpoint is paused, the delivery isn't sent.
   * @returns undefined if the endpoint has no delivery with that id
   */
  readonly redeliver: (endpoint: Endpoint, id: string) => Promise<LoggedDelivery | undefined>;
  /**
   * Makes all abandoned deliveries due immediately.
   * @returns how many there are
   */
  readonly redeliverExhausted: (endpointId: string) => Promise<number>;
  /**
   * Starts a replay of the current log.
   * @returns false if another replay for the endpoint is running
   */
  readonly beginReplay: (order: ReplayOrder) => Promise<boolean>;
  /** Ends the running replay. Events that haven't been sent yet are dropped. */
  readonly cancelReplay: (endpointId: string) => Promise<unknown>;
  /**
   * Changes an endpoint, and waits until no attempt begins any more with the settings from before.
   * @throws Refusal unavailable (503) if the read model `webhooks` lags
   */
  readonly settle: <Of extends { readonly position?: Position | undefined }>(
    endpointId: string,
    write: () => Promise<Of>,
  ) => Promise<Of>;
  /** Starts sending the endpoints' due deliveries immediately. */
  readonly wake: (endpointIds: readonly string[]) => void;
}
