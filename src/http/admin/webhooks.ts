/** Webhook endpoints of a project, for members of its organization (docs/spec/interface.md, section 4.4, the admin mirrors). */
import { z } from 'zod';
import { isAtLeast } from '#src/shared/member.ts';
import { route } from '../api/route.ts';
import { environment, LIST_QUERY, listOf } from '../api/schemas.ts';
import * as actions from '../webhooks/actions.ts';
import { DELIVERIES_QUERY, WAITS } from '../webhooks/routes.ts';
import { delivery, endpoint, endpointChange, issuedEndpoint, newEndpoint } from '../webhooks/shapes.ts';
import { by, endpointFor, projectFor, ROLE_FOR, requireRole } from './access.ts';

const tag = 'Webhooks';
const credential = 'identity';
const models = ['projects', 'webhooks'];
const shown = { description: 'The endpoint', schema: endpoint };
const issued = { description: 'The endpoint with its secret', schema: issuedEndpoint };
const one = { description: 'The delivery', schema: delivery };

/** Routes of webhooks, in the order of the documentation. */
export const WEBHOOK_ROUTES = [
  route({
    method: 'POST',
    path: '/admin/projects/{project_id}/webhooks',
    operationId: 'createProjectWebhook',
    summary: 'Create a webhook endpoint; its secret is shown only now',
    description: 'A production endpoint requires the role admin, here and on all routes below.',
    tag,
    credential,
    models,
    secret: true,
    body: newEndpoint.extend({ environment }).meta({
      examples: [{ url: 'https://hooks.example.org/annal', events: ['*'], environment: 'sandbox' }],
    }),
    answers: { 201: issued },
    async run(request) {
      const { environment: of, ...body } = request.body;
      const project = await projectFor(request, request.params.project_id, 'developer');
      requireRole(project.role, ROLE_FOR[of]);
      return actions.createEndpoint(request, by(request), { project: project.id, environment: of }, body);
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/webhooks',
    operationId: 'listProjectWebhooks',
    summary: 'The webhook endpoints of a project, oldest first',
    description:
      'Without `environment` a developer sees those of the sandbox, an admin or owner all of them.',
    tag,
    credential,
    models,
    query: z.object({ ...LIST_QUERY, environment: environment.optional() }),
    answers: { 200: { description: 'A page of endpoints', schema: listOf(endpoint) } },
    async run(request) {
      const { environment: asked, ...query } = request.query;
      const project = await projectFor(request, request.params.project_id, 'developer');
      if (asked !== undefined) requireRole(project.role, ROLE_FOR[asked]);
      const of = asked ?? (isAtLeast(project.role, ROLE_FOR.production) ? undefined : 'sandbox');
      return actions.listEndpoints(request, { project: project.id, environment: of }, query);
    },
  }),
  route({
    method: 'PATCH',
    path: '/admin/webhooks/{endpoint_id}',
    operationId: 'changeProjectWebhook',
    summary: 'Change, pause or resume a webhook endpoint',
    tag,
    credential,
    models,
    body: endpointChange,
    answers: { 200: shown },
    run: async (request) =>
      actions.changeEndpoint(
        request,
        by(request),
        await endpointFor(request, request.params.endpoint_id),
        request.body,
      ),
  }),
  route({
    method: 'DELETE',
    path: '/admin/webhooks/{endpoint_id}',
    operationId: 'deleteProjectWebhook',
    summary: 'Delete a webhook endpoint; undelivered events are dropped',
    tag,
    credential,
    models,
    answers: { 204: { description: 'It is deleted' } },
    run: async (request) =>
      actions.deleteEndpoint(request, by(request), await endpointFor(request, request.params.endpoint_id)),
  }),
  route({
    method: 'POST',
    path: '/admin/webhooks/{endpoint_id}/rotate',
    operationId: 'rotateProjectWebhookSecret',
    summary: 'Create a new secret; the old one stops working immediately',
    tag,
    credential,
    models,
    secret: true,
    answers: { 200: issued },
    run: async (request) =>
      actions.rotateEndpoint(request, by(request), await endpointFor(request, request.params.endpoint_id)),
  }),
  route({
    method: 'POST',
    path: '/admin/webhooks/{endpoint_id}/ping',
    operationId: 'pingProjectWebhook',
    summary: 'Send a `ping` event',
    description: WAITS,
    tag,
    credential,
    models,
    answers: { 200: one },
    run: async (request) =>
      actions.pingEndpoint(request, await endpointFor(request, request.params.endpoint_id)),
  }),
  route({
    method: 'GET',
    path: '/admin/webhooks/{endpoint_id}/deliveries',
    operationId: 'listProjectWebhookDeliveries',
    summary: 'Deliveries of the last 30 days, newest first',
    tag,
    credential,
    models,
    query: DELIVERIES_QUERY,
    answers: { 200: { description: 'A page of deliveries', schema: listOf(delivery) } },
    async run(request) {
      const { event_type: eventType, ...query } = request.query;
      const of = await endpointFor(request, request.params.endpoint_id);
      return actions.listDeliveries(request, of, { ...query, eventType });
    },
  }),
  route({
    method: 'POST',
    path: '/admin/webhooks/{endpoint_id}/deliveries/{delivery_id}/redeliver',
    operationId: 'redeliverProjectWebhookDelivery',
    summary: 'Retry a delivery now',
    description: WAITS,
    tag,
    credential,
    models,
    answers: { 200: one },
    run: async (request) =>
      actions.redeliver(
        request,
        await endpointFor(request, request.params.endpoint_id),
        request.params.delivery_id,
      ),
  }),
];
