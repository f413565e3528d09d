/** Operators' decisions about projects: requests for production, and trusted applications. */
import { z } from 'zod';
import type { TrustedRow } from '#queries/admin/operations.ts';
import type { NamedProductionRequest } from '#queries/admin/production.ts';
import { notFound } from '#src/shared/refusal.ts';
import { toInstant } from '#src/shared/time/time.ts';
import type { ApiRequest } from '../../api/route.ts';
import { environment, instant, LIST_QUERY, listSchema, PAGED } from '../../api/schemas.ts';
import { toAuthor } from '../access.ts';
import { listed, toInstantOrNull } from '../answers.ts';
import { listWhole, operatorRoute } from './route.ts';

const named = z.object({ id: z.string(), name: z.string() });
const MODELS = ['projects'];

const requestSchema = z
  .object({
    id: z.string(),
    project: named,
    organization: named,
    person: z.string().nullable().describe('Who asked: e-mail address, or else the subject.'),
    use: z.string(),
    status: z.enum(['pending', 'allowed', 'refused']),
    production: z.boolean().describe('Whether the project may create production keys and applications now.'),
    reason: z.string().nullable(),
    created_at: instant,
    answered_at: instant.nullable(),
  })
  .meta({ id: 'OperatorsProductionRequest' });

function requestView(row: NamedProductionRequest): z.input<typeof requestSchema> {
  const { id, person, use, status, production, reason } = row;
  return {
    ...{ id, person, use, status, production, reason },
    project: { id: row.project, name: row.project_name },
    organization: { id: row.organization, name: row.organization_name },
    created_at: toInstant(row.created_at),
    answered_at: toInstantOrNull(row.answered_at),
  };
}

const trustedSchema = z
  .object({
    id: z.string(),
    name: z.string(),
    client_id: z.string(),
    environment,
    project: named,
    organization: named,
    trusted_at: instant.nullable(),
  })
  .meta({ id: 'TrustedApplication' });

function trustedView(row: TrustedRow): z.input<typeof trustedSchema> {
  const { id, name, client_id } = row;
  return {
    ...{ id, name, client_id, environment: row.environment },
    project: { id: row.project, name: row.project_name },
    organization: { id: row.organization, name: row.organization_name },
    trusted_at: toInstantOrNull(row.trusted_at),
  };
}

/**
 * Finds a request for production.
 * @throws Refusal not_found
 */
async function findRequest(
  { services }: Pick<ApiRequest<string, 'identity'>, 'services'>,
  id: string,
): Promise<NamedProductionRequest> {
  const found = (await services.adminQueries.allProductionRequests()).find((one) => one.id === id);
  if (found === undefined) throw notFound('production request', id.slice(0, 60));
  return found;
}

/** Their routes. */
export const PROJECT_DECISION_ROUTES = [
  operatorRoute({
    method: 'GET',
    path: '/admin/operations/production-requests',
    operationId: 'listAllProductionRequests',
    summary: 'Production requests from all projects',
    description: 'Requests from closed projects are left out.',
    models: MODELS,
    answers: {
      200: {
        description: 'Pending requests, oldest first, then answered requests, newest first',
        schema: listSchema(requestSchema),
      },
    },
    async run({ services }) {
      return listWhole((await services.adminQueries.allProductionRequests()).map(requestView));
    },
  }),
  operatorRoute({
    method: 'POST',
    path: '/admin/operations/production-requests/{request_id}',
    operationId: 'answerProductionRequest',
    summary: 'Allow or refuse a request for production',
    description:
      'Does the same as `annal production allow` and `refuse`, but in the person’s name. A request that was already answered returns 409.',
    models: MODELS,
    body: z
      .strictObject({
        answer: z.enum(['allow', 'refuse']),
        reason: z
          .string()
          .trim()
          .min(1)
          .max(2_000)
          .optional()
          .describe('The reason for a refusal, which the project’s members can read.'),
      })
      .refine(({ answer, reason }) => answer === 'refuse' || reason === undefined, {
        path: ['reason'],
        message: 'belongs to a refusal',
      })
      .meta({ examples: [{ answer: 'refuse', reason: 'Confirm your domain first.' }] }),
    answers: { 200: { description: 'The request with its answer', schema: requestSchema } },
    async run(request) {
      const { services, params, body, now } = request;
      const found = await findRequest(request, params.request_id);
      const allow = body.answer === 'allow';
      const { reason } = body;
      const { wrote } = await services.admin.answerProduction(toAuthor(request), found.project, found.id, {
        allow,
        reason,
      });
      const answered: NamedProductionRequest = {
        ...found,
        status: allow ? 'allowed' : 'refused',
        production: allow || found.production,
        reason: reason ?? null,
        answered_at: wrote?.at ?? now(),
      };
      return { status: 200, body: requestView(answered), position: wrote?.position };
    },
  }),
  operatorRoute({
    method: 'POST',
    path: '/admin/operations/production-withdrawals',
    operationId: 'withdrawProduction',
    summary: 'End a project’s permission to create production keys and applications',
    description:
      'Does the same as `annal production withdraw`, but in the person’s name. Existing keys work until they are revoked, and existing applications until they are deleted. Nothing changes if the permission was withdrawn before and no production keys or applications were created since.',
    models: MODELS,
    body: z
      .strictObject({ project_id: z.string().max(60).describe('`proj_…`') })
      .meta({ examples: [{ project_id: 'proj_4xQ2mZ9d' }] }),
    answers: {
      200: {
        description: 'The project, which has no production access now',
        schema: z.object({ project_id: z.string(), production: z.boolean() }),
      },
    },
    async run(request) {
      const { project_id } = request.body;
      const { wrote } = await request.services.admin.withdrawProduction(toAuthor(request), project_id);
      return { status: 200, body: { project_id, production: false }, position: wrote?.position };
    },
  }),
  operatorRoute({
    method: 'GET',
    path: '/admin/operations/trusted-applications',
    operationId: 'listTrustedApplications',
    summary: 'Applications that may use the identity grant, the newest first',
    description: `${PAGED} \`POST /admin/applications/{application_id}/trust\` gives and ends trust.`,
    models: MODELS,
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(trustedSchema) } },
    async run({ services, query }) {
      return listed(await services.adminQueries.trustedApplications(query), trustedView);
    },
  }),
];
