/** What the routes of webhooks work with. */
import type { WebhookCommands } from '#commands/webhook/commands.ts';
import type { WebhookQueries } from '#queries/webhooks/endpoints.ts';
import type { Position } from '#src/events/store.ts';
import type { LoggedDelivery, WebhookDeliveries } from '#src/reactions/webhooks/deliveries.ts';
import type { WebhookReplays } from '#src/reactions/webhooks/replays.ts';

/** Their part of the services. */
export interface WebhookServices {
  readonly commands: WebhookCommands;
  readonly queries: WebhookQueries;
  readonly deliveries: WebhookDeliveries;
  readonly replays: WebhookReplays;
  /** The end of the log. */
  readonly head: () => Promise<Position>;
  /** Has replays that have begun carried on at once. */
  readonly replay: () => Promise<void>;
  /** Waits until the read model `webhooks` shows a position. @throws Refusal unavailable (503) */
  readonly shown: (position: Position | undefined) => Promise<void>;
  /** Has an endpoint's deliveries that are due sent at once. */
  readonly wake: (endpointIds: readonly string[]) => void;
  /** Has a delivery that is due sent at once, and waits up to 5 s for the attempt. */
  readonly attempted: (made: LoggedDelivery) => Promise<LoggedDelivery>;
}
