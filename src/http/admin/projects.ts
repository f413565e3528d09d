/** Routes for an organization's projects. */
import { z } from 'zod';
import type { ProjectRow } from '#queries/admin/projects.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { route } from '../api/route.ts';
import { LIST_QUERY, listSchema, PAGED } from '../api/schemas.ts';
import { organizationFor, projectFor, toAuthor } from './access.ts';
import { listed, toInstantOrNull } from './answers.ts';
import { name, projectSchema, projectWithAccessSchema } from './schemas.ts';

const TAG = 'Projects';

/** Formats a project for a response. */
export function projectView({
  id,
  organization,
  name: named,
  created_at,
}: ProjectRow): z.input<typeof projectSchema> {
  return { id, organization_id: organization, name: named, created_at: toInstantOrNull(created_at) ?? '' };
}

/** Routes of projects. */
export const PROJECT_ROUTES = [
  route({
    method: 'POST',
    path: '/admin/organizations/{org_id}/projects',
    operationId: 'createProject',
    summary: 'Create a project in an organization',
    description:
      'A project has a sandbox, which is filled with synthetic patients, and a production environment; their data never mix.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    body: z.strictObject({ name }).meta({ examples: [{ name: 'Patient app' }] }),
    answers: { 201: { description: 'The project', schema: projectSchema } },
    async run(request) {
      const { services, params, body, now } = request;
      const { id: organization } = await organizationFor(request, params.org_id, 'admin');
      const { result, wrote } = await services.admin.createProject(
        toAuthor(request),
        organization,
        body.name,
      );
      const created_at = wrote?.at ?? now();
      return {
        status: 201,
        headers: { Location: `${services.config.baseUrl}/admin/projects/${result.id}` },
        body: projectView({ id: result.id, organization, name: body.name, created_at }),
        position: wrote?.position,
      };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/organizations/{org_id}/projects',
    operationId: 'listProjects',
    summary: 'An organization’s open projects, the newest first',
    description: PAGED,
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(projectSchema) } },
    async run(request) {
      const { id } = await organizationFor(request, request.params.org_id, 'member');
      return listed(await request.services.adminQueries.projects(id, request.query), projectView);
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}',
    operationId: 'getProject',
    summary: 'A project',
    description: 'Returns the project to members of its organization; for anyone else, the answer is 404.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: { 200: { description: 'The project', schema: projectWithAccessSchema } },
    async run(request) {
      const { services, params } = request;
      const row = await projectFor(request, params.project_id, 'member');
      const production =
        services.config.productionAccess === 'open' || (await services.adminQueries.hasProduction(row.id));
      return { status: 200, body: { ...projectView(row), production } };
    },
  }),
  route({
    method: 'DELETE',
    path: '/admin/projects/{project_id}',
    operationId: 'deleteProject',
    summary: 'Close a project; its keys stop working at once',
    description:
      'If the project has production data, the request is refused (409) unless `confirm` is the id of the project. Records stay in the log.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject({
      confirm: z.string().optional().describe('The id of the project, to close one with production data.'),
    }),
    answers: { 204: { description: 'It is closed' } },
    async run(request) {
      const { services, params, query } = request;
      const { id } = await projectFor(request, params.project_id, 'admin');
      if (query.confirm !== undefined && query.confirm !== id) {
        throw new Refusal('invalid', {
          code: 'value',
          diagnostics: `query.confirm must be the id of the project, ${id}`,
          expression: 'query.confirm',
        });
      }
      const production = { project: id, environment: 'production' } as const;
      if (query.confirm === undefined && (await services.adminQueries.hasData(production))) {
        throw new Refusal('conflict', {
          code: 'business-rule',
          diagnostics: `the project has production data; to close it anyway, repeat the request with ?confirm=${id}`,
        });
      }
      const { wrote } = await services.admin.deleteProject(toAuthor(request), id);
      return { status: 204, position: wrote?.position, awaited: true };
    },
  }),
];
