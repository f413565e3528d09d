/** Routes for a project's OAuth applications: registration, changes, branding, secrets, deletion. */
import { z } from 'zod';
import type { ApplicationRow } from '#queries/admin/projects.ts';
import { notFound, Refusal } from '#src/shared/refusal.ts';
import { route } from '../../api/route.ts';
import { instant, LIST_QUERY, listSchema, PAGED } from '../../api/schemas.ts';
import { applicationFor, projectFor, requireOperator, toAuthor } from '../access.ts';
import { listed } from '../answers.ts';
import { applicationChange, findFaults, newApplication, webUrl } from './body.ts';
import { MAX_LOGO_BYTES, readLogo } from './logo.ts';
import { applicationSchema, applicationView, shownApplication } from './view.ts';

const TAG = 'Applications';
/** In microseconds. */
const HOUR = 3_600_000_000;

/** Routes for applications. */
export const APPLICATION_ROUTES = [
  route({
    method: 'POST',
    path: '/admin/projects/{project_id}/applications',
    operationId: 'registerApplication',
    summary: 'Register an OAuth application',
    description:
      'A redirect URI is `https`, `http` on localhost or 127.0.0.1, or, for public applications, has a private-use scheme with a dot in it. It has no fragment, wildcard or user information. A `production` application requires production access for the project, as a key does (403 otherwise).',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    secret: true,
    body: newApplication,
    answers: {
      201: { description: 'The application; only this answer shows its secret', schema: shownApplication },
    },
    async run(request) {
      const { services, params, body, now } = request;
      const project = await projectFor(request, params.project_id, 'admin');
      const { result, wrote } = await services.admin.registerApplication(toAuthor(request), project.id, body);
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
        logo_sha256: null,
        logo_type: null,
        logo_size: null,
        jwks: body.jwks === undefined ? null : JSON.stringify(body.jwks),
        jwks_uri: body.jwks_uri ?? null,
        sector: body.sector ?? null,
        previous_until: null,
        trusted: false,
        created_at: wrote?.at ?? now(),
      };
      const secret = result.secret === undefined ? {} : { client_secret: result.secret };
      return {
        status: 201,
        body: { ...applicationView(row, services.config.baseUrl, now()), ...secret },
        position: wrote?.position,
      };
    },
  }),
  route({
    method: 'GET',
    path: '/admin/projects/{project_id}/applications',
    operationId: 'listApplications',
    summary: 'A project’s OAuth applications, the newest first',
    description: `${PAGED} Client secrets are never shown again.`,
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    query: z.strictObject(LIST_QUERY),
    answers: { 200: { description: 'A page', schema: listSchema(applicationSchema) } },
    async run(request) {
      const { services, params, query, now } = request;
      const { id } = await projectFor(request, params.project_id, 'member');
      const page = await services.adminQueries.applications(id, query);
      return listed(page, (row) => applicationView(row, services.config.baseUrl, now()));
    },
  }),
  route({
    method: 'PATCH',
    path: '/admin/applications/{application_id}',
    operationId: 'changeApplication',
    summary: 'Change the redirect URIs, scopes or keys of an application',
    description:
      'Members that you leave out stay as they are. `jwks` and `jwks_uri` replace each other and the client secrets, which stop working at once: an application that signs with keys has no secret, and can’t get one again. Access that people have already allowed stays as it is.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    body: applicationChange,
    answers: { 200: { description: 'The application', schema: applicationSchema } },
    async run(request) {
      const { services, params, body, now } = request;
      const row = await applicationFor(request, params.application_id, 'admin');
      const faults = findFaults(row, body).map(({ path, message }) => ({
        code: 'value' as const,
        diagnostics: `${path.join('.')} ${message}`,
        expression: path.join('.'),
      }));
      if (faults.length > 0) throw new Refusal('invalid', faults);
      const { result, wrote } = await services.admin.changeApplication(toAuthor(request), row.id, body);
      const { jwks, jwks_uri = null, privacy_url = null } = result;
      const hasKeys = jwks !== undefined || jwks_uri !== null;
      const changed: ApplicationRow = {
        ...row,
        redirect_uris: result.redirect_uris,
        post_logout_redirect_uris: result.post_logout_redirect_uris,
        scopes: result.scopes,
        privacy_url,
        jwks: jwks === undefined ? null : JSON.stringify(jwks),
        jwks_uri,
        previous_until: hasKeys ? null : row.previous_until,
      };
      return {
        status: 200,
        body: applicationView(changed, services.config.baseUrl, now()),
        position: wrote?.position,
        // A leaked key must stop working at once.
        awaited: true,
      };
    },
  }),
  route({
    method: 'PUT',
    path: '/admin/applications/{application_id}/branding',
    operationId: 'putBranding',
    summary: 'Replace the branding that the consent page shows for an application',
    description: 'Replaces all of the branding: a member that you leave out is removed.',
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
        logo: z
          .base64()
          .min(1)
          .max(Math.ceil(MAX_LOGO_BYTES / 3) * 4)
          .optional()
          .describe(
            'A PNG, JPEG or WebP file of up to 64 kB, as base64. The consent page shows no other image.',
          ),
      })
      .meta({ examples: [{ client_uri: 'https://diary.example.org', color: '#0b6e4f' }] }),
    answers: { 200: { description: 'The application', schema: applicationSchema } },
    async run(request) {
      const { services, params, body, now } = request;
      const row = await applicationFor(request, params.application_id, 'admin');
      const { logo: file, ...texts } = body;
      const sent = file === undefined ? undefined : await readLogo(file);
      if (sent !== undefined)
        await services.logos.keep(
          row.id,
          sent.sha256,
          { contentType: sent.content_type, content: sent.content },
          row.logo_sha256,
        );
      const { sha256, content_type } = sent ?? {};
      const logo =
        sha256 === undefined || content_type === undefined || sent === undefined
          ? undefined
          : { sha256, content_type, size: sent.content.byteLength };
      const { wrote } = await services.admin.brandApplication(toAuthor(request), row.id, { ...texts, logo });
      const { logo_uri = null, client_uri = null, tos_uri = null, color = null } = texts;
      const branded = {
        ...row,
        ...{ logo_uri, client_uri, tos_uri, color },
        logo_sha256: logo?.sha256 ?? null,
        logo_type: logo?.content_type ?? null,
        logo_size: logo?.size ?? null,
      };
      const view = applicationView(branded, services.config.baseUrl, now());
      return { status: 200, body: view, position: wrote?.position };
    },
  }),
  route({
    method: 'POST',
    path: '/admin/applications/{application_id}/trust',
    operationId: 'trustApplication',
    summary: 'Make an application trusted, or no longer trusted: for operators only',
    description:
      'Trusted applications may use the first-party identity grant. Only operators of the installation give and end trust, here or with `annal applications trust`. For anyone else, the answer is 403.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    body: z.strictObject({ trusted: z.boolean().default(true) }).meta({ examples: [{ trusted: true }] }),
    answers: { 200: { description: 'The application', schema: applicationSchema } },
    async run(request) {
      const { services, params, body, now } = request;
      await requireOperator(request);
      const found = await services.adminQueries.anyApplication(params.application_id);
      if (found === undefined) throw notFound('application', params.application_id.slice(0, 60));
      const { wrote } = await services.admin.trustApplication(toAuthor(request), found.id, body.trusted);
      const view = applicationView({ ...found, trusted: body.trusted }, services.config.baseUrl, now());
      return { status: 200, body: view, position: wrote?.position };
    },
  }),
  route({
    method: 'POST',
    path: '/admin/applications/{application_id}/secrets',
    operationId: 'rotateClientSecret',
    grantToken: 'refused',
    summary: 'Replace the client secret of an application',
    description:
      'The previous secret keeps working for `overlap_hours`, so that servers can switch one by one. Older secrets stop working at once. Applications that are public or sign with keys have no secret (409).',
    tag: TAG,
    credential: 'identity',
    secret: true,
    body: z
      .strictObject({
        overlap_hours: z
          .int()
          .min(0)
          .max(168)
          .default(24)
          .describe('0 to 168 (7 days). 0 ends the previous secret at once, for example if it leaked.'),
      })
      .meta({ examples: [{ overlap_hours: 24 }] }),
    answers: {
      201: {
        description: 'The new secret; only this answer shows it',
        schema: z.object({
          client_secret: z.string().describe('Shown only now; the service stores its SHA-256.'),
          previous_secret_expires_at: instant.nullable(),
        }),
      },
    },
    async run(request) {
      const { services, params, body } = request;
      const { id } = await applicationFor(request, params.application_id, 'admin');
      const overlap = body.overlap_hours * HOUR;
      const { result, wrote } = await services.admin.rotateSecret(toAuthor(request), id, overlap);
      const { secret: client_secret, previousUntil } = result;
      return {
        status: 201,
        body: { client_secret, previous_secret_expires_at: previousUntil ?? null },
        position: wrote?.position,
        // A leaked secret must stop working at once.
        awaited: true,
      };
    },
  }),
  route({
    method: 'DELETE',
    path: '/admin/applications/{application_id}',
    operationId: 'deleteApplication',
    summary: 'Delete an application; it stops working at once',
    description: 'Its tokens stop working at once, and its grants end.',
    tag: TAG,
    credential: 'identity',
    grantToken: 'refused',
    answers: { 204: { description: 'It is deleted' } },
    async run(request) {
      const { id } = await applicationFor(request, request.params.application_id, 'admin');
      const { wrote } = await request.services.admin.deleteApplication(toAuthor(request), id);
      return { status: 204, position: wrote?.position, awaited: true };
    },
  }),
];
