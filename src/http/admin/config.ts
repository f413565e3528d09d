/** `GET /admin/config`: the installation's settings, for a dashboard. */
import { z } from 'zod';
import { MAX_ENDPOINTS } from '#src/shared/webhook-types.ts';
import { route } from '../api/route.ts';
import { FHIR_PATH } from '../path.ts';
import { VERSION } from '../version.ts';
import { isOperator } from './access.ts';

const config = z.object({
  version: z.string().describe('Version of the interfaces: `info.version` of the OpenAPI document.'),
  mode: z.enum(['development', 'production']),
  base_url: z.string(),
  fhir_base_url: z.string(),
  openapi_url: z.string(),
  limits: z.object({
    body_bytes: z.int().describe('Largest JSON body other than a Bundle.'),
    bundle_bytes: z.int(),
    bundle_entries: z.int(),
    webhook_endpoints: z.int().describe('The limit per project, in each environment.'),
  }),
  identity: z
    .object({ issuer: z.string(), subject: z.string(), email: z.string().nullable() })
    .describe('Who the caller is. A colleague needs this to add them as a member.'),
  operator: z.boolean().describe('Whether the caller operates the installation.'),
});

/** Routes for the configuration. */
export const CONFIG_ROUTES = [
  route({
    method: 'GET',
    path: '/admin/config',
    operationId: 'getConfig',
    summary: 'URLs and limits of this installation, and who the caller is',
    description: 'Returns base URLs, limits and the person who makes the request.',
    tag: 'Service',
    credential: 'identity',
    grantToken: 'refused',
    answers: { 200: { description: 'The installation', schema: config } },
    async run(request) {
      const { services, identity } = request;
      const { baseUrl, mode, limits } = services.config;
      const body: z.input<typeof config> = {
        version: VERSION,
        mode,
        base_url: baseUrl,
        fhir_base_url: baseUrl + FHIR_PATH,
        openapi_url: `${baseUrl}/openapi.json`,
        limits: {
          body_bytes: limits.bodyBytes,
          bundle_bytes: limits.bundleBytes,
          bundle_entries: limits.bundleEntries,
          webhook_endpoints: MAX_ENDPOINTS,
        },
        identity: {
          issuer: identity.issuer,
          subject: identity.subject,
          email: identity.email ?? null,
        },
        operator: await isOperator(request),
      };
      return { status: 200, body };
    },
  }),
];
