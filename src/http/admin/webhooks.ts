/**
 * Routes for a project's webhook endpoints, for members of its organization (docs/spec/interface.md, section 4.4, the admin
 * mirrors).
 */
import { z } from 'zod';
import { suffices, TO_WRITE } from '#src/shared/access/member.ts';
import { route } from '../api/route.ts';
import { environment, LIST_QUERY, listSchema } from '../api/schemas.ts';
import * as actions from '../webhooks/actions.ts';
import { endpointRoutes } from '../webhooks/endpoint-routes.ts';
import { endpoint, issuedEndpoint, newEndpoint } from '../webhooks/shapes.ts';
import { endpointFor, projectFor, requireRole, toAuthor } from './access.ts';

const tag = 'Webhooks';
const credential = 'identity';
const models = ['projects', 'webhooks'];
const issued = { description: 'The endpoint with its secret', schema: issuedEndpoint };

/** Routes for webhooks, in the order used in the documentation. */
export const WEBHOOK_ROUTES = [
  route({
    method: 'POST',
    path: '/admin/projects/{project_id}/webhooks',
    operationId: 'createProjectWebhook',
    summary: 'Create a webhook endpoint; its secret is shown only now',
    description: 'A production endpoint requires the role admin, here and on all routes below.',
    tag,
    credential,
    grantToken: 'refused',
    models,
    secret: true,
    body: newEndpoint.extend({ environment }).meta({
      examples: [{ url: 'https://hooks.example.org/annal', events: ['*'], environment: 'sandbox' }],
    }),
    answers: { 201: issued },
    async run(request) {
      const { environment: of, ...body } = request.body;
      const project = await projectFor(request, request.params.project_id, 'developer');
      requireRole(project.role, TO_WRITE[of]);
      return actions.createEndpoint(
        request,
        toAuthor(request),
        { project: project.id, environment: of },
        body,
      );
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/webhooks',
    operationId: 'listProjectWebhooks',
    summary: 'The webhook endpoints of a project, oldest first',
    description:
      'Without `environment`, a developer sees the sandbox’s endpoints, and an admin or owner sees all endpoints.',
    tag,
    credential,
    grantToken: 'refused',
    models,
    query: z.object({ ...LIST_QUERY, environment: environment.optional() }),
    answers: { 200: { description: 'A page of endpoints', schema: listSchema(endpoint) } },
    async run(request) {
      const { environment: asked, ...query } = request.query;
      const project = await projectFor(request, request.params.project_id, 'developer');
      if (asked !== undefined) requireRole(project.role, TO_WRITE[asked]);
      const of = asked ?? (suffices(project.role, TO_WRITE.production) ? undefined : 'sandbox');
      return actions.listEndpoints(request, { project: project.id, environment: of }, query);
    },
  }),
  ...endpointRoutes({
    path: '/admin/webhooks',
    noun: 'webhook endpoint',
    name: 'ProjectWebhook',
    credential,
    models,
    toAuthor,
    known: endpointFor,
    scopes: {},
    pinged: {},
  }),
];
