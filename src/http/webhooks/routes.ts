/**
 * Serves `/v1/webhooks` (docs/spec/interface.md, section 4.4): a project's endpoints in the environment of the request's key.
 */
import { z } from 'zod';
import { type RequestContext as By, toEventCredential } from '#commands/command.ts';
import type { Endpoint } from '#queries/webhooks/endpoints.ts';
import { notFound } from '#src/shared/refusal.ts';
import { WEBHOOK_EVENT_TYPES } from '#src/shared/webhook-types.ts';
import { type ApiRequest, type Route, route } from '../api/route.ts';
import { LIST_QUERY, listSchema } from '../api/schemas.ts';
import * as actions from './actions.ts';
import { endpointRoutes } from './endpoint-routes.ts';
import { endpoint, issuedEndpoint, newEndpoint, newReplay, replay, shownEndpoint } from './shapes.ts';

type Request = Pick<
  ApiRequest<string, 'api_key'>,
  'services' | 'caller' | 'requestId' | 'ids' | 'now' | 'retry'
>;

/** Returns a command's author and request. */
function toAuthor({ caller, requestId, ids, now, retry }: Request): By {
  return {
    credential: toEventCredential(caller),
    requestId,
    ids,
    now,
    ...(retry === undefined ? {} : { retry }),
  };
}

/**
 * Returns one of the project's endpoints.
 * @throws Refusal not_found (404)
 */
async function known({ services, caller }: Request, id: string): Promise<Endpoint> {
  const found = await services.webhooks.queries.endpoint(caller.calls.project, id);
  if (found === undefined) throw notFound('webhook', id.slice(0, 60));
  return found;
}

const tag = 'Webhooks';
const credential = 'api_key';
const models = ['webhooks'];
const shown = { description: 'The endpoint', schema: endpoint };
const issued = { description: 'The endpoint with its secret', schema: issuedEndpoint };

/** All webhook routes, in the order used in the documentation. */
export const WEBHOOK_ROUTES: readonly Route[] = [
  route({
    method: 'POST',
    path: '/v1/webhooks',
    operationId: 'createWebhook',
    summary: 'Create an endpoint; its secret is shown only now',
    tag,
    credential,
    grantToken: 'refused',
    needsRead: true,
    models,
    secret: true,
    body: newEndpoint,
    answers: { 201: issued },
    run: (request) =>
      actions.createEndpoint(request, toAuthor(request), request.caller.calls.project, request.body),
  }),
  route({
    method: 'GET',
    path: '/v1/webhooks',
    operationId: 'listWebhooks',
    summary: 'The endpoints, oldest first',
    description:
      'Returns the endpoints in the key’s project and environment. A secret is shown only when it is created.',
    tag,
    credential,
    grantToken: 'refused',
    models,
    query: z.object(LIST_QUERY),
    answers: { 200: { description: 'A page of endpoints', schema: listSchema(endpoint) } },
    run: (request) => actions.listEndpoints(request, request.caller.calls.project, request.query),
  }),
  route({
    method: 'GET',
    path: '/v1/webhooks/event-types',
    operationId: 'listWebhookEventTypes',
    summary: 'The event types',
    description:
      'Returns every type to which an endpoint can subscribe; `*` subscribes to all of them, including later ones.',
    tag,
    credential,
    grantToken: 'refused',
    models: [],
    answers: {
      200: { description: 'The types', schema: z.object({ data: z.array(z.enum(WEBHOOK_EVENT_TYPES)) }) },
    },
    run: async () => ({ status: 200, body: { data: WEBHOOK_EVENT_TYPES } }),
  }),
  route({
    method: 'GET',
    path: '/v1/webhooks/{endpoint_id}',
    operationId: 'getWebhook',
    summary: 'An endpoint',
    description: 'Returns the endpoint with its state. A secret is shown only when it is created.',
    tag,
    credential,
    grantToken: 'refused',
    models,
    answers: { 200: shown },
    run: async (request) => ({
      status: 200,
      body: shownEndpoint(await known(request, request.params.endpoint_id)),
    }),
  }),
  ...endpointRoutes({
    path: '/v1/webhooks',
    noun: 'endpoint',
    name: 'Webhook',
    credential,
    models,
    toAuthor,
    known,
    scopes: { needsRead: true },
    pinged: { showsStored: true },
  }),
  route({
    method: 'POST',
    path: '/v1/webhooks/{endpoint_id}/deliveries/redeliver-exhausted',
    operationId: 'redeliverExhaustedWebhookDeliveries',
    summary: 'Retry all exhausted deliveries now',
    tag,
    credential,
    grantToken: 'refused',
    needsRead: true,
    models,
    answers: {
      200: {
        description: 'The number of deliveries that will be sent again',
        schema: z.object({ requeued: z.int().describe('How many.') }),
      },
    },
    run: async (request) =>
      actions.redeliverExhausted(request, await known(request, request.params.endpoint_id)),
  }),
  route({
    method: 'POST',
    path: '/v1/webhooks/{endpoint_id}/replay',
    operationId: 'replayWebhookEvents',
    summary: 'Send past events from the log again, in order',
    description:
      'Their deliveries have the header `Service-Replay: true` and the original event ids. If a delivery fails, the following ones wait until it succeeds or is exhausted. Erased records are left out. An endpoint can have one running replay at a time.',
    tag,
    credential,
    grantToken: 'refused',
    needsRead: true,
    models,
    body: newReplay,
    answers: { 202: { description: 'It has begun', schema: replay } },
    run: async (request) =>
      actions.beginReplay(request, await known(request, request.params.endpoint_id), request.body),
  }),
  route({
    method: 'GET',
    path: '/v1/webhooks/{endpoint_id}/replay',
    operationId: 'getWebhookReplay',
    summary: 'The progress of the newest replay',
    description: 'A replay sends earlier events to the endpoint again.',
    tag,
    credential,
    grantToken: 'refused',
    models,
    answers: { 200: { description: 'The replay', schema: replay } },
    run: async (request) => actions.readReplay(request, await known(request, request.params.endpoint_id)),
  }),
  route({
    method: 'DELETE',
    path: '/v1/webhooks/{endpoint_id}/replay',
    operationId: 'cancelWebhookReplay',
    summary: 'Cancel the running replay; events that were not sent yet are dropped',
    tag,
    credential,
    grantToken: 'refused',
    needsRead: true,
    models,
    answers: { 200: { description: 'The replay', schema: replay } },
    run: async (request) => actions.cancelReplay(request, await known(request, request.params.endpoint_id)),
  }),
];
