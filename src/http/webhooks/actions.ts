/** Performs the actions of the webhook routes, for a project's key or a member of its organization. */
import { z } from 'zod';
import type { RequestContext as By } from '#commands/command.ts';
import { decodeCursor, encodeCursor } from '#queries/cursor.ts';
import type { Endpoint } from '#queries/webhooks/endpoints.ts';
import type { DeliveryQuestion } from '#queries/webhooks/ledger.ts';
import type { Environment, Tenant } from '#src/shared/access/caller.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { toInstant, toMicros } from '#src/shared/time/time.ts';
import type { RequestContext, RouteResult } from '../api/route.ts';
import type { endpointChange, newEndpoint, newReplay } from './shapes.ts';
import { requireUrl, shownDelivery, shownEndpoint, shownReplay } from './shapes.ts';

type Request = Pick<RequestContext, 'services' | 'ids' | 'now'>;

/** Makes an endpoint. */
export async function createEndpoint(
  { services }: Request,
  by: By,
  tenant: Tenant,
  body: z.output<typeof newEndpoint>,
): Promise<RouteResult> {
  const url = requireUrl(body.url, tenant.environment, services.config.mode);
  const { commands, queries } = services.webhooks;
  const { result, position } = await commands.create(by, tenant, {
    ...body,
    url,
    description: body.description ?? null,
  });
  const made = await queries.endpoint(tenant, result.id);
  if (made === undefined) throw notFound('webhook', result.id);
  return { status: 201, body: { ...shownEndpoint(made), secret: result.secret }, position };
}

/** Changes an endpoint's settings. */
export async function changeEndpoint(
  { services }: Request,
  by: By,
  known: Endpoint,
  body: z.output<typeof endpointChange>,
): Promise<RouteResult> {
  const { mode } = services.config;
  const url = body.url === undefined ? undefined : requireUrl(body.url, known.environment, mode);
  const { commands, settle } = services.webhooks;
  const { position } = await settle(known.id, () => commands.change(by, known.id, { ...body, url }));
  const changed = await again(services, known);
  if (changed.active) services.webhooks.wake([known.id]);
  return { status: 200, body: shownEndpoint(changed), position, awaited: true };
}

/** Gives an endpoint a new secret. From then on, nothing is signed with the previous secret. */
export async function rotateEndpoint({ services }: Request, by: By, known: Endpoint): Promise<RouteResult> {
  const { commands, settle } = services.webhooks;
  const { result, position } = await settle(known.id, () => commands.rotate(by, known.id));
  const rotated = await again(services, known);
  return {
    status: 200,
    body: { ...shownEndpoint(rotated), secret: result.secret },
    position,
    awaited: true,
  };
}

/** Deletes it. */
export async function deleteEndpoint({ services }: Request, by: By, known: Endpoint): Promise<RouteResult> {
  const { commands, settle } = services.webhooks;
  const { position } = await settle(known.id, () => commands.remove(by, known.id));
  return { status: 204, position, awaited: true };
}

/**
 * Sends a test delivery and waits up to 5 s for the attempt. If the endpoint is paused, the delivery waits until the endpoint
 * is resumed.
 */
export async function pingEndpoint({ services, ids, now }: Request, known: Endpoint): Promise<RouteResult> {
  const delivery = await services.webhooks.ping(known, ids.prefixed('evt_'), toInstant(now()));
  if (delivery === undefined) throw notFound('webhook', known.id);
  return { status: 200, body: shownDelivery(delivery) };
}

/** Returns a page of the endpoint's delivery log. */
export async function listDeliveries(
  { services }: Request,
  known: Endpoint,
  {
    cursor,
    ...query
  }: Omit<DeliveryQuestion, 'endpointId' | 'before'> & { readonly cursor?: string | undefined },
): Promise<RouteResult> {
  const [before] = cursor === undefined ? [] : keyIn(cursor, z.tuple([z.int().positive()]));
  const { deliveries, total } = await services.webhooks.ledger.deliveries({
    ...query,
    endpointId: known.id,
    before,
  });
  const last = deliveries.length === query.limit ? deliveries.at(-1) : undefined;
  const next_cursor = last === undefined ? null : encodeCursor([last.seq]);
  return { status: 200, body: { data: deliveries.map(shownDelivery), total, next_cursor } };
}

/** Sends a delivery again now, and waits up to 5 s for the attempt. */
export async function redeliver({ services }: Request, known: Endpoint, id: string): Promise<RouteResult> {
  const delivery = await services.webhooks.redeliver(known, id);
  if (delivery === undefined) throw notFound('delivery', id);
  return { status: 200, body: shownDelivery(delivery) };
}

/** Sends all abandoned deliveries again now. */
export async function redeliverExhausted({ services }: Request, known: Endpoint): Promise<RouteResult> {
  const requeued = await services.webhooks.redeliverExhausted(known.id);
  return { status: 200, body: { requeued } };
}

/** Sends past events from the log again, in order. */
export async function beginReplay(
  { services, ids, now }: Request,
  known: Endpoint,
  body: z.output<typeof newReplay>,
): Promise<RouteResult> {
  const [from, to] = [toMicros(body.from), body.to === undefined ? now() : toMicros(body.to)];
  if (from > to) {
    const diagnostics = `from must not be later than ${body.to === undefined ? 'now' : 'to'}`;
    throw new Refusal('invalid', { code: 'value', diagnostics, expression: 'from' });
  }
  const order = { id: ids.next(), endpointId: known.id, from, to, types: body.types ?? known.events };
  if (!(await services.webhooks.beginReplay(order))) {
    const diagnostics = 'another replay to this endpoint is running; wait until it ends, or cancel it';
    throw new Refusal('conflict', { code: 'conflict', diagnostics });
  }
  return { status: 202, body: await readProgress(services, known) };
}

/** Returns the progress of the newest replay. */
export async function readReplay({ services }: Request, known: Endpoint): Promise<RouteResult> {
  return { status: 200, body: await readProgress(services, known) };
}

/** Cancels the running replay; deliveries that were not sent are dropped. */
export async function cancelReplay({ services }: Request, known: Endpoint): Promise<RouteResult> {
  await services.webhooks.cancelReplay(known.id);
  return { status: 200, body: await readProgress(services, known) };
}

async function readProgress({ webhooks }: Request['services'], { id }: Endpoint) {
  const progress = await webhooks.ledger.replay(id);
  if (progress === undefined) throw notFound('replay', id);
  return shownReplay(progress);
}

/** Returns a page of endpoints, oldest first. */
export async function listEndpoints(
  { services }: Request,
  of: { readonly project: string; readonly environment?: Environment | undefined },
  { limit, cursor }: { readonly limit: number; readonly cursor?: string | undefined },
): Promise<RouteResult> {
  const [createdAt, id] = cursor === undefined ? [] : keyIn(cursor, z.tuple([z.int(), z.string()]));
  const after = createdAt === undefined || id === undefined ? undefined : { createdAt, id };
  const { endpoints, total } = await services.webhooks.queries.endpoints(of, limit, after);
  const last = endpoints.length === limit ? endpoints.at(-1) : undefined;
  const next_cursor = last === undefined ? null : encodeCursor([last.createdAt, last.id]);
  return { status: 200, body: { data: endpoints.map(shownEndpoint), total, next_cursor } };
}

async function again(services: Request['services'], known: Endpoint): Promise<Endpoint> {
  const found = await services.webhooks.queries.endpoint(known, known.id);
  if (found === undefined) throw notFound('webhook', known.id);
  return found;
}

/**
 * Returns the key encoded in a cursor.
 * @throws Refusal invalid (422)
 */
function keyIn<T>(cursor: string, schema: z.ZodType<T>): T {
  try {
    return decodeCursor(cursor, schema);
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    const diagnostics = 'query.cursor is not a cursor of this list; start again without it';
    throw new Refusal('invalid', { code: 'value', diagnostics, expression: 'query.cursor' });
  }
}
