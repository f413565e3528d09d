/**
 * Defines the routes for one endpoint. They are the same for a project's key (`/v1/webhooks`) and a member of its organization
 * (`/admin/webhooks`).
 */
import { z } from 'zod';
import type { RequestContext as By } from '#commands/command.ts';
import type { Endpoint } from '#queries/webhooks/endpoints.ts';
import { DELIVERY_STATUSES } from '#queries/webhooks/ledger.ts';
import { withArticle } from '#src/shared/article.ts';
import { WEBHOOK_EVENT_TYPES } from '#src/shared/webhook-types.ts';
import { type Proven, type RequestContext, route, type TypedRoute } from '../api/route.ts';
import { LIST_QUERY, listSchema } from '../api/schemas.ts';
import * as actions from './actions.ts';
import { delivery, endpoint, endpointChange, issuedEndpoint } from './shapes.ts';

/** The routes' credential and wording. */
export interface EndpointAccess<C extends 'api_key' | 'identity'> {
  readonly path: '/v1/webhooks' | '/admin/webhooks';
  /** The word for an endpoint in summaries. */
  readonly noun: string;
  /** Part of the operations' names. */
  readonly name: 'Webhook' | 'ProjectWebhook';
  readonly credential: C;
  readonly models: readonly string[];
  /** Returns a command's author and request. */
  readonly toAuthor: (request: RequestContext & Proven[C]) => By;
  /**
   * Returns the endpoint with the given id.
   * @throws Refusal not_found (404)
   */
  readonly known: (request: RequestContext & Proven[C], id: string) => Promise<Endpoint>;
  /** For routes that write and return an endpoint or a delivery. */
  readonly scopes: { readonly needsRead?: true };
  /** For `ping`. */
  readonly pinged: { readonly showsStored?: true };
}

/** Part of the description of routes that send a delivery. */
const WAITS =
  'Waits up to 5 seconds for the attempt: `status`, `last_status_code` and `last_error` show its result. If it hasn’t ended by then, or the endpoint is paused, `status` is `pending`.';

/** The query of a delivery log. */
const DELIVERIES_QUERY = z.object({
  ...LIST_QUERY,
  status: z.enum(DELIVERY_STATUSES).optional(),
  event_type: z.enum(WEBHOOK_EVENT_TYPES).optional(),
});

/** Creates the routes, in the order used in the documentation. */
export function endpointRoutes<C extends 'api_key' | 'identity'>(access: EndpointAccess<C>): TypedRoute<C>[] {
  const { noun, name, credential, models, toAuthor: by, known, scopes, pinged } = access;
  const path = `${access.path}/{endpoint_id}` as const;
  const common = { tag: 'Webhooks', credential, models } as const;
  const one = { description: 'The delivery', schema: delivery };
  return [
    route({
      ...common,
      grantToken: 'refused',
      method: 'PATCH',
      path,
      operationId: `change${name}`,
      summary: `Change, pause or resume ${withArticle(noun)}`,
      description: 'Members that you leave out stay as they are.',
      ...scopes,
      body: endpointChange,
      answers: { 200: { description: 'The endpoint', schema: endpoint } },
      run: async (request) =>
        actions.changeEndpoint(
          request,
          by(request),
          await known(request, request.params.endpoint_id),
          request.body,
        ),
    }),
    route({
      ...common,
      grantToken: 'refused',
      method: 'DELETE',
      path,
      operationId: `delete${name}`,
      summary: `Delete ${withArticle(noun)}; undelivered events are dropped`,
      description: 'The endpoint receives no more events.',
      answers: { 204: { description: 'It is deleted' } },
      run: async (request) =>
        actions.deleteEndpoint(request, by(request), await known(request, request.params.endpoint_id)),
    }),
    route({
      ...common,
      grantToken: 'refused',
      method: 'POST',
      path: `${path}/rotate`,
      operationId: `rotate${name}Secret`,
      summary: 'Create a new secret; the old one stops working immediately',
      description: 'The secret is shown only in this answer.',
      ...scopes,
      secret: true,
      answers: { 200: { description: 'The endpoint with its secret', schema: issuedEndpoint } },
      run: async (request) =>
        actions.rotateEndpoint(request, by(request), await known(request, request.params.endpoint_id)),
    }),
    route({
      ...common,
      grantToken: 'refused',
      method: 'POST',
      path: `${path}/ping`,
      operationId: `ping${name}`,
      summary: 'Send a `ping` event',
      description: WAITS,
      ...pinged,
      answers: { 200: one },
      run: async (request) => actions.pingEndpoint(request, await known(request, request.params.endpoint_id)),
    }),
    route({
      ...common,
      grantToken: 'refused',
      method: 'GET',
      path: `${path}/deliveries`,
      operationId: `list${name}Deliveries`,
      summary: 'Deliveries of the last 30 days, newest first',
      description: 'Each delivery has the number of its attempts, and the status and error of the last one.',
      query: DELIVERIES_QUERY,
      answers: { 200: { description: 'A page of deliveries', schema: listSchema(delivery) } },
      async run(request) {
        const { event_type: eventType, ...query } = request.query;
        const of = await known(request, request.params.endpoint_id);
        return actions.listDeliveries(request, of, { ...query, eventType });
      },
    }),
    route({
      ...common,
      grantToken: 'refused',
      method: 'POST',
      path: `${path}/deliveries/{delivery_id}/redeliver`,
      operationId: `redeliver${name}Delivery`,
      summary: 'Retry a delivery now',
      description: WAITS,
      ...scopes,
      answers: { 200: one },
      run: async (request) =>
        actions.redeliver(
          request,
          await known(request, request.params.endpoint_id),
          request.params.delivery_id,
        ),
    }),
  ];
}
