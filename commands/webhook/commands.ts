/**
 * The write side of webhook endpoints: one function per command. The caller has already looked up the
 * endpoint's owner.
 */

import type { Position } from '#src/events/store.ts';
import { webhookStream } from '#src/events/streams.ts';
import { type Tenant, tenantId } from '#src/shared/access/caller.ts';
import { seal } from '#src/shared/access/sealed.ts';
import { Refusal, unavailable } from '#src/shared/refusal.ts';
import { MAX_ENDPOINTS } from '#src/shared/webhook-types.ts';
import type { CriteriaLocks, RequestContext, Written } from '../command.ts';
import type { Kernel } from '../kernel/kernel.ts';
import { Streams } from '../kernel/streams.ts';
import { drawSecret } from '../secret.ts';
import { change, create, remove, rotate, type WebhookChange } from './decide.ts';
import { WEBHOOK, type WebhookSettings } from './state.ts';

/** An endpoint and its secret in plain text, which is shown only in this response. */
export interface Issued {
  readonly id: string;
  readonly secret: string;
}

/** The commands. All throw `Refusal`: not_found for an endpoint that doesn't exist or was deleted. */
export interface WebhookCommands {
  /** @throws Refusal conflict if the project already has the maximum number of endpoints in the environment */
  readonly create: (
    by: RequestContext,
    tenant: Tenant,
    settings: WebhookSettings,
  ) => Promise<Written<Issued>>;
  readonly change: (by: RequestContext, id: string, changed: WebhookChange) => Promise<Written<void>>;
  readonly rotate: (by: RequestContext, id: string) => Promise<Written<Issued>>;
  readonly remove: (by: RequestContext, id: string) => Promise<Written<void>>;
}

/** Opens them. */
export function openWebhookCommands({
  kernel,
  locks,
  key,
  others,
  waitFor,
}: {
  readonly kernel: Kernel;
  readonly locks: CriteriaLocks;
  /** The key that encrypts secrets: 32 bytes. */
  readonly key: Buffer;
  /**
   * Returns how many endpoints a tenant has, not counting the given one.
   * @throws Refusal unavailable if the read model doesn't catch up with the log
   */
  readonly others: (tenant: Tenant, endpointId: string) => Promise<number>;
  /** Waits until the read model `webhooks` reaches a position; returns false if that takes too long. */
  readonly waitFor: (position: Position) => Promise<boolean>;
}): WebhookCommands {
  const endpoints = new Streams(kernel, WEBHOOK);
  const write = async <T>(
    by: RequestContext,
    id: string,
    decide: ReturnType<typeof remove>,
    result: T,
  ): Promise<Written<T>> => ({
    result,
    position: (await endpoints.transact(webhookStream(id), by, decide))?.position,
  });
  const secretFor = async (by: RequestContext, id: string): Promise<Issued & { sealed: string }> => {
    // The format that Standard Webhooks defines; its libraries decode the key from it.
    const secret = `whsec_${(await drawSecret(by)).toString('base64')}`;
    return { id, secret, sealed: seal(key, secret, id) };
  };
  return {
    create: (by, tenant, settings) =>
      locks.hold([`webhooks ${tenantId(tenant)}`], async () => {
        const id = by.ids.prefixed('whe_');
        if ((await others(tenant, id)) >= MAX_ENDPOINTS)
          throw new Refusal('conflict', {
            code: 'business-rule',
            diagnostics: `a project can have at most ${MAX_ENDPOINTS} webhook endpoints in each environment; delete one first`,
          });
        const { secret, sealed } = await secretFor(by, id);
        const written = await write(by, id, create(id, tenant, settings, sealed), { id, secret });
        // The next endpoint to be created must count this one too.
        if (written.position !== undefined && !(await waitFor(written.position)))
          throw unavailable(
            "the endpoint was created but isn't active on every instance yet; retry in a second",
          );
        return written;
      }),
    change: (by, id, changed) => write(by, id, change(id, changed), undefined),
    async rotate(by, id) {
      const { secret, sealed } = await secretFor(by, id);
      return write(by, id, rotate(id, sealed), { id, secret });
    },
    remove: (by, id) => write(by, id, remove(id), undefined),
  };
}
