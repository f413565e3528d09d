/** Builds the OpenAPI 3.1 document for all interfaces: https://spec.openapis.org/oas/v3.1.1.html */
import type { OpenRoute } from '../api/open-route.ts';
import type { Route } from '../api/route.ts';
import { errorBody } from '../api/schemas.ts';
import { TAG_TEXTS } from '../api/tags.ts';
import { VERSION } from '../version.ts';
import { addExamples } from './examples.ts';
import { FHIR_SCHEMAS } from './fhir-schemas.ts';
import { rewriteForGenerators } from './nullable.ts';
import { AUTHORIZE_PATH } from './of-authorize.ts';
import { fhirPaths } from './of-fhir.ts';
import { LOGOUT_PATHS } from './of-openid.ts';
import { describeRoute } from './of-route.ts';
import { type Part, Schemas } from './schemas.ts';
import { AUTHORED_422, ERROR_RESPONSES, HEADERS, PARAMETERS, securitySchemes } from './shared.ts';

const DESCRIPTION = `One FHIR R4 health record per patient, event-sourced.

**Credentials.** The FHIR interface and \`/v1\` require a project's API key, \`/admin\` and \`/me\` an ID token from
an OpenID Connect issuer, each as \`Authorization: Bearer\`. Sandbox keys and production keys never see each other's data. An
application's own access token (\`client_credentials\`) works like a key of its project. With the access token for a patient's
grant, an application reads what the grant covers of one record, if the operation names the scheme \`patientGrant\`; all other
operations return 403.

**Pages.** Scripts on the service's own pages reach \`/me\`, \`/admin\`, \`/v1\` and \`/fhir/R4\` below \`/app/api\` with the
session of the person who is signed in, instead of a credential. Each request needs \`X-Service-Session: 1\` and must come from
the same origin; requests for \`/v1\` and \`/fhir/R4\` also need \`X-Service-Project\` and \`X-Service-Environment\`. The
operations are the same and not listed twice.

**Errors** have two formats. \`/v1\`, \`/admin\`, \`/me\` and webhooks return
\`{"error": {"type", "message", "field", "errors", "request_id", "doc_url"}}\` as \`application/json\`: \`type\` is stable, and
\`errors\` lists every invalid input as \`{"field", "code", "message"}\`. The FHIR interface returns an OperationOutcome as
\`application/fhir+json\`, with an \`issue\` for each invalid input. **\`/v1\` uses both:** if
\`X-Service-Acting-As\`, \`X-Service-Author-Ref\` or \`X-Service-On-Behalf-Of\` in a write names an unknown or inactive
entry, the answer is 422 with an OperationOutcome (\`severity\` \`error\`, \`code\` \`invalid\`). To tell the formats apart, look
at \`Content-Type\`, or whether the body has \`error\` or \`resourceType\`. Every answer has a \`Service-Request-Id\`.

**Retries.** The service executes a POST with an \`Idempotency-Key\` once, even if you send it several times within 24 hours.

**Limits.** \`RateLimit\` shows how many requests per minute are left; beyond the limit the answer is 429 with \`Retry-After\`.`;

const OTHERS = { '/oauth/authorize': AUTHORIZE_PATH, ...LOGOUT_PATHS };

/**
 * Returns the document.
 * @param routes all routes except the FHIR ones
 * @param baseUrl the service's URL, without a trailing slash.
 */
export function openApiDocument(routes: readonly (Route | OpenRoute)[], baseUrl: string): Part {
  const schemas = new Schemas();
  schemas.of(errorBody, 'output');
  const paths: Record<string, Record<string, Part>> = {};
  for (const route of routes) {
    if (route.unlisted === true) continue;
    paths[route.path] = { ...paths[route.path], [route.method.toLowerCase()]: describeRoute(route, schemas) };
  }
  const taken = Object.keys(FHIR_SCHEMAS).find((name) => Object.hasOwn(schemas.components, name));
  if (taken !== undefined) throw new Error(`${taken} is the name of a schema of FHIR`);
  const document: Part = {
    openapi: '3.1.1',
    info: {
      title: 'Annal',
      version: VERSION,
      description: DESCRIPTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: baseUrl }],
    tags: Object.entries(TAG_TEXTS).map(([name, description]) => ({ name, description })),
    paths: addExamples({ ...fhirPaths(), ...paths, ...OTHERS }, schemas.components),
    components: {
      schemas: { ...schemas.components, ...FHIR_SCHEMAS },
      headers: HEADERS,
      parameters: PARAMETERS,
      responses: { ...ERROR_RESPONSES, Authored422: AUTHORED_422 },
      securitySchemes: securitySchemes(baseUrl),
    },
  };
  return rewriteForGenerators(document) as Part;
}
