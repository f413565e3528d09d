/**
 * Routes for requests for production keys and applications, which the operator approves or refuses
 * (docs/admin.md#production-by-request).
 */
import { z } from 'zod';
import type { ProductionRequestRow } from '#queries/admin/production.ts';
import { route } from '../api/route.ts';
import { instant, LIST_QUERY, listSchema, PAGED } from '../api/schemas.ts';
import { projectFor, toAuthor } from './access.ts';
import { listed, toInstantOrNull } from './answers.ts';

const TAG = 'Projects';

const requestSchema = z
  .object({
    id: z.string(),
    project_id: z.string(),
    use: z.string(),
    status: z.enum(['pending', 'allowed', 'refused']),
    reason: z.string().nullable().describe('Why the operator refused it; null if they gave no reason.'),
    created_at: instant,
    answered_at: instant.nullable().describe('null while it is pending.'),
  })
  .meta({ id: 'ProductionRequest' });

function requestView(row: ProductionRequestRow): z.input<typeof requestSchema> {
  return {
    id: row.id,
    project_id: row.project,
    use: row.use,
    status: row.status,
    reason: row.reason,
    created_at: toInstantOrNull(row.created_at) ?? '',
    answered_at: toInstantOrNull(row.answered_at),
  };
}

/** Routes for production requests. */
export const PRODUCTION_REQUEST_ROUTES = [
  route({
    method: 'POST',
    path: '/admin/projects/{project_id}/production-requests',
    operationId: 'requestProduction',
    summary: 'Ask the operator of the installation for production keys and applications',
    description:
      'Where production is by request, a project creates production keys and applications once the operator has allowed it. One request waits at a time: a second is refused (409), and so is one of a project that may create them already. After a refusal you can ask again.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    body: z
      .strictObject({
        use: z
          .string()
          .trim()
          .min(1)
          .max(2_000)
          .describe('What the project needs production for; the operator reads it.'),
      })
      .meta({ examples: [{ use: 'Patients of our clinic keep a diary of their symptoms, from March on.' }] }),
    answers: {
      201: { description: 'The request, which is pending until the operator answers', schema: requestSchema },
    },
    async run(request) {
      const { services, params, body, now } = request;
      const { id: project } = await projectFor(request, params.project_id, 'admin');
      const { result, wrote } = await services.admin.requestProduction(toAuthor(request), project, body.use);
      const row: ProductionRequestRow = {
        id: result.id,
        project,
        use: body.use,
        status: 'pending',
        reason: null,
        created_at: wrote?.at ?? now(),
        answered_at: null,
      };
      return { status: 201, body: requestView(row), position: wrote?.position };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/production-requests',
    operationId: 'listProductionRequests',
    summary: 'A project’s production requests and their answers, the newest first',
    description: PAGED,
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(requestSchema) } },
    async run(request) {
      const { id } = await projectFor(request, request.params.project_id, 'member');
      return listed(await request.services.adminQueries.productionRequests(id, request.query), requestView);
    },
  }),
];
