/** Assembles the webhooks: the process that follows the log, the dispatcher, and the services for their routes. */

import { setTimeout as delay } from 'node:timers/promises';
import type { Pool } from 'pg';
import type { Logger } from 'pino';
import type { Registry } from 'prom-client';
import type { CriteriaLocks } from '#commands/command.ts';
import type { Kernel } from '#commands/kernel/kernel.ts';
import { openWebhookCommands } from '#commands/webhook/commands.ts';
import { refuseCostly } from '#queries/database/gather.ts';
import { type Endpoint, openWebhookQueries } from '#queries/webhooks/endpoints.ts';
import { type LoggedDelivery, openLedgerQueries } from '#queries/webhooks/ledger.ts';
import type { Config } from '../../config.ts';
import { openPool } from '../../database/pool.ts';
import type { NewerEvents } from '../../events/newer.ts';
import type { EventStore, Position } from '../../events/store.ts';
import type { Freshness } from '../../freshness/freshness.ts';
import type { WebhookServices } from '../../http/ports/webhooks.ts';
import { observeWebhooks } from '../../metrics/webhooks.ts';
import { parseAccess } from '../../oauth/tokens/access.ts';
import { installationKey } from '../../operations/installation-key.ts';
import { tryToLead } from '../../processes/lead.ts';
import { Process } from '../../processes/process.ts';
import { unavailable } from '../../shared/refusal.ts';
import { isGuarded } from '../../shared/webhook-url.ts';
import { wrapCalls } from '../../shared/wrap-calls.ts';
import { Attempts } from './attempt.ts';
import { WebhookClaims } from './claims.ts';
import { WebhookDeliveries } from './deliveries.ts';
import { Dispatcher } from './dispatcher.ts';
import { FanOut, FOLLOWED, makeDelivery } from './fan-out.ts';
import { openGrantRows } from './grant-rows.ts';
import { Grantees } from './grantees.ts';
import { HELD_MS } from './lane.ts';
import { Replayer } from './replay.ts';
import { WebhookReplays } from './replays.ts';
import { Sender } from './send.ts';
import { readSubscribers, writeDeliveries } from './subscribers.ts';
import { openTextLookup } from './text-as-of.ts';
import { pingEvent } from './view.ts';

/** The parts that make up webhooks. */
export interface Webhooks {
  /** Creates deliveries for events. */
  readonly process: Process;
  readonly deliveries: WebhookDeliveries;
  /** Starts following the log and sending deliveries. */
  start(): Promise<void>;
  stop(): Promise<void>;
  services(deps: {
    readonly kernel: Kernel;
    readonly locks: CriteriaLocks;
    readonly freshness: Pick<Freshness, 'waitFor'>;
  }): Promise<WebhookServices>;
}

/** The margin, in seconds, by which a claim on a delivery outlasts the delivery's maximum duration. */
const LEASE_MARGIN = 5;
/** How long the session of an instance that runs a replay may be idle before another instance takes over, in ms. */
const HUNG_MS = 6_000;
const SWEEP_MS = 10 * 60_000;
/** How long a replay waits in one call for the process to reach the replay's end, in ms. */
const FOLLOWED_MS = 1_000;

/** Creates the parts that make up webhooks. */
export function openWebhooks({
  config,
  registry,
  ...processDeps
}: {
  readonly config: Pick<Config, 'mode' | 'webhooks'>;
  readonly store: EventStore;
  readonly pool: Pool;
  readonly databaseUrl: string;
  /** Returns whether the event log responds to this instance. */
  readonly logAnswers: () => boolean;
  /** Informed about events that a newer version wrote. */
  readonly newer: NewerEvents;
  readonly log: Logger;
  /** Undefined if another process on this machine sends the deliveries and reports their metrics. */
  readonly registry: Registry | undefined;
}): Webhooks {
  const { store, pool, log, logAnswers } = processDeps;
  const { timeoutSeconds, retrySeconds: gaps } = config.webhooks;
  const deliveries = new WebhookDeliveries(pool);
  // New deliveries and claims on them are committed asynchronously. The log's checkpoint and the results of deliveries are
  // committed synchronously, and come after them in PostgreSQL's WAL. If deliveries are lost before that, they are created
  // again with the same ids.
  const swift = openPool(processDeps.databaseUrl, {
    max: 2,
    name: 'annal webhooks',
    options: '-c synchronous_commit=off',
  });
  const claims = new WebhookClaims(pool, swift, timeoutSeconds + LEASE_MARGIN);
  const sender = new Sender(timeoutSeconds * 1_000);
  const onAttempt = registry && observeWebhooks(registry, () => claims.backlog());
  const attempts = new Attempts();
  let dispatcher: Dispatcher | undefined;
  const wake = (endpointIds: readonly string[]): void => dispatcher?.wake(endpointIds);
  const grants = openGrantRows(pool);
  const grantees = new Grantees({ parseAccess, textAsOf: openTextLookup(pool, store) });
  const fanOut = new FanOut(
    {
      subscribers: () => readSubscribers(pool),
      grants,
      write: (changes, made) => writeDeliveries(swift, changes, made),
    },
    grantees,
    wake,
  );
  const replays = new WebhookReplays(pool);
  const process = new Process(
    {
      name: 'webhooks',
      types: FOLLOWED,
      begin: fanOut.begin,
      act: fanOut.takeLate,
      actOnAll: fanOut.take,
    },
    processDeps,
  );
  const replayer = new Replayer({
    store,
    replays,
    grants,
    grantees,
    followed: (position) => process.hasPassed(position, FOLLOWED_MS),
    stand: async (name) =>
      logAnswers()
        ? tryToLead({
            databaseUrl: processDeps.databaseUrl,
            name: `webhooks ${name}`,
            hungMs: HUNG_MS,
            onAsked: () => undefined,
          })
        : undefined,
    wake,
    log,
  });
  const sweeping = setInterval(() => {
    deliveries
      .sweep()
      .catch((error: unknown) => log.warn({ err: error }, 'old webhook deliveries were not removed'));
  }, SWEEP_MS).unref();
  return {
    process,
    deliveries,
    async start() {
      const key = await installationKey(pool, 'webhook_key');
      const guarded = (environment: 'sandbox' | 'production'): boolean => isGuarded(environment, config.mode);
      const onNoted = (ids: readonly string[]): void => attempts.ended(ids);
      const observed = onAttempt === undefined ? {} : { onAttempt };
      dispatcher = new Dispatcher({
        claims,
        sender,
        key,
        gaps,
        guarded,
        log,
        ...observed,
        onNoted,
      });
      dispatcher.start();
      process.start();
      replayer.start();
    },
    async stop() {
      clearInterval(sweeping);
      process.stop();
      await replayer.stop();
      await dispatcher?.stop();
      sender.close();
      await swift.end();
    },
    async services({ kernel, locks, freshness }) {
      const queries = wrapCalls(openWebhookQueries(pool), refuseCostly);
      const ledger = wrapCalls(openLedgerQueries(pool), refuseCostly);
      const commands = openWebhookCommands({
        kernel,
        locks,
        key: await installationKey(pool, 'webhook_key'),
        others: async (tenant, id) => {
          if (!(await freshness.waitFor(await store.head(), ['webhooks'])))
            throw unavailable('the read model webhooks lags behind the log');
          return queries.others(tenant, id);
        },
        waitFor: (position) => freshness.waitFor(position, ['webhooks']),
      });
      const awaitWebhooks = async (position: Position | undefined): Promise<void> => {
        if (position !== undefined && !(await freshness.waitFor(position, ['webhooks'])))
          throw unavailable("the change was saved but isn't active on every instance yet; retry in a second");
      };
      // Claims that were made before the change may be sent for a while, with the earlier URL and secret.
      const settle: WebhookServices['settle'] = async (endpointId, write) => {
        const isHeld = await claims.mayHold(endpointId);
        const written = await write();
        await awaitWebhooks(written.position);
        if (isHeld || (await claims.mayHold(endpointId))) await delay(HELD_MS);
        return written;
      };
      // Nothing is sent to a paused endpoint.
      const attempted = async (
        { id: endpoint, active }: Endpoint,
        id: string,
      ): Promise<LoggedDelivery | undefined> => {
        const due = await ledger.delivery(id);
        if (due === undefined || !active) return due;
        const sent = attempts.first(due, () => ledger.delivery(id));
        wake([endpoint]);
        return sent;
      };
      return {
        commands,
        queries,
        ledger,
        async ping(endpoint, eventId, at) {
          const delivery = makeDelivery(pingEvent(eventId, at, endpoint, endpoint.id), endpoint.id);
          await deliveries.add(delivery);
          return attempted(endpoint, delivery.id);
        },
        redeliver: async (endpoint, id) =>
          (await deliveries.redeliver(endpoint.id, id)) ? attempted(endpoint, id) : undefined,
        async redeliverExhausted(endpointId) {
          const requeued = await deliveries.redeliverExhausted(endpointId);
          wake([endpointId]);
          return requeued;
        },
        async beginReplay(order) {
          const begun = await replays.begin({ ...order, head: await store.head() });
          if (begun) void replayer.look();
          return begun;
        },
        cancelReplay: (endpointId) => replays.cancel(endpointId),
        settle,
        wake,
      };
    },
  };
}
