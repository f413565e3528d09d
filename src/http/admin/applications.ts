/** OAuth applications of projects: registration, branding, trust, deletion. */
import { z } from 'zod';
import type { ApplicationRow } from '#queries/admin/projects.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { route } from '../api/route.ts';
import { environment, instant, LIST_QUERY, listOf } from '../api/schemas.ts';
import { applicationFor, by, projectFor } from './access.ts';
import { instantOf, listed } from './answers.ts';
import { newApplication, webUrl } from './application-body.ts';

const TAG = 'Applications';

const branding = z.object({
  logo_uri: z.string().nullable(),
  client_uri: z.string().nullable(),
  tos_uri: z.string().nullable(),
  color: z.string().nullable(),
});

const applicationSchema = z
  .object({
    id: z.string(),
    project_id: z.string(),
    client_id: z.string(),
    name: z.string(),
    environment,
    kind: z.enum(['public', 'confidential']),
    redirect_uris: z.array(z.string()),
    scopes: z.array(z.string()),
    grant_types: z.array(z.string()),
    privacy_url: z.string().nullable(),
    branding: branding.describe('What the consent page shows beside the name.'),
    trusted: z.boolean(),
    created_at: instant,
  })
  .meta({ id: 'Application' });

const shownApplication = applicationSchema
  .extend({
    client_secret: z
      .string()
      .optional()
      .describe('For a confidential application. Shown only now; the service stores its SHA-256.'),
  })
  .meta({ id: 'NewApplication' });

function applicationView(row: ApplicationRow): z.input<typeof applicationSchema> {
  const { logo_uri, client_uri, tos_uri, color } = row;
  return {
    id: row.id,
    project_id: row.project,
    client_id: row.client_id,
    name: row.name,
    environment: row.environment,
    kind: row.kind,
    redirect_uris: [...row.redirect_uris],
    scopes: [...row.scopes],
    grant_types: [...row.grant_types],
    privacy_url: row.privacy_url,
    branding: { logo_uri, client_uri, tos_uri, color },
    trusted: row.trusted,
    created_at: instantOf(row.created_at) ?? '',
  };
}

/** Routes of applications. */
export const APPLICATION_ROUTES = [
  route({
    method: 'POST',
    path: '/admin/projects/{project_id}/applications',
    operationId: 'registerApplication',
    summary: 'Register an OAuth application',
    description:
      'Redirect URIs are `https`, `http` on localhost or 127.0.0.1, or, for public applications, of a scheme of their own with a dot in it; without fragment, wildcard or user information.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    secret: true,
    body: newApplication,
    answers: { 201: { description: 'The application, and its secret this once', schema: shownApplication } },
    async run(request) {
      const { services, params, body, now } = request;
      const project = await projectFor(request, params.project_id, 'admin');
      const { result, wrote } = await services.admin.registerApplication(by(request), project.id, body);
      const row: ApplicationRow = {
        ...body,
        id: result.id,
        project: project.id,
        client_id: result.clientId,
        privacy_url: body.privacy_url ?? null,
        logo_uri: null,
        client_uri: null,
        tos_uri: null,
        color: null,
        trusted: false,
        created_at: wrote?.at ?? now(),
      };
      const secret = result.secret === undefined ? {} : { client_secret: result.secret };
      return { status: 201, body: { ...applicationView(row), ...secret }, position: wrote?.position };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/applications',
    operationId: 'listApplications',
    summary: 'OAuth applications of a project, the newest first',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listOf(applicationSchema) } },
    async run(request) {
      const { id } = await projectFor(request, request.params.project_id, 'developer');
      return listed(await request.services.adminQueries.applications(id, request.query), applicationView);
    },
  }),
  route({
    method: 'PUT',
    path: '/admin/applications/{application_id}/branding',
    operationId: 'putBranding',
    summary: 'Replace what the consent page shows of an application',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    body: z
      .strictObject({
        logo_uri: webUrl.optional(),
        client_uri: webUrl.optional().describe('Its home page.'),
        tos_uri: webUrl.optional().describe('Its terms of service.'),
        color: z
          .string()
          .regex(/^#[0-9a-fA-F]{6}$/, 'must have the form #rrggbb')
          .optional(),
      })
      .meta({ examples: [{ client_uri: 'https://diary.example.org', color: '#0b6e4f' }] }),
    answers: { 200: { description: 'The application', schema: applicationSchema } },
    async run(request) {
      const { services, params, body } = request;
      const row = await applicationFor(request, params.application_id, 'admin');
      const { wrote } = await services.admin.brandApplication(by(request), row.id, body);
      const { logo_uri = null, client_uri = null, tos_uri = null, color = null } = body;
      const branded = { ...row, logo_uri, client_uri, tos_uri, color };
      return { status: 200, body: applicationView(branded), position: wrote?.position };
    },
  }),
  route({
    method: 'POST',
    path: '/admin/applications/{application_id}/trust',
    operationId: 'trustApplication',
    summary: 'Make an application trusted, or no longer trusted',
    description:
      'Trusted applications may use the first-party identity grant. It takes an owner, and a verified organization (else 409).',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    body: z.strictObject({ trusted: z.boolean().default(true) }).meta({ examples: [{ trusted: true }] }),
    answers: { 200: { description: 'The application', schema: applicationSchema } },
    async run(request) {
      const { services, params, body } = request;
      const row = await applicationFor(request, params.application_id, 'owner');
      if (body.trusted && !row.organization_verified) {
        throw new Refusal('conflict', {
          code: 'business-rule',
          diagnostics: `the organization is not verified; verify it first with POST /admin/organizations/${row.organization}/verify`,
        });
      }
      const { wrote } = await services.admin.trustApplication(by(request), row.id, body.trusted);
      return {
        status: 200,
        body: applicationView({ ...row, trusted: body.trusted }),
        position: wrote?.position,
        awaited: !body.trusted,
      };
    },
  }),
  route({
    method: 'DELETE',
    path: '/admin/applications/{application_id}',
    operationId: 'deleteApplication',
    summary: 'Delete an application; it stops working at once',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: { 204: { description: 'It is deleted' } },
    async run(request) {
      const { id } = await applicationFor(request, request.params.application_id, 'admin');
      const { wrote } = await request.services.admin.deleteApplication(by(request), id);
      return { status: 204, position: wrote?.position, awaited: true };
    },
  }),
];
