/**
 * Serves the discovery documents: SMART App Launch 2.2 ("Conformance"), OpenID Connect Discovery 1.0, OpenID CIBA Core 1.0
 * (section 4), RFC 8414 and RFC 9728. They list only features that work.
 */
import { z } from 'zod';
import { CLIENT_AUTHENTICATION_METHODS } from '#src/oauth/client-authentication.ts';
import { ASSERTION_ALGORITHMS } from '#src/oauth/key-set.ts';
import { PLAIN_SCOPES } from '#src/oauth/scopes.ts';
import { SIGNING_ALGORITHM } from '#src/oauth/signing-keys.ts';
import { answerJson, type OpenRoute, openRoute } from '../api/open-route.ts';
import { GRANT_WORK } from './endpoints/token.ts';

/** Clients that authenticate for introspection must be known, so `none` also covers public applications here. */
const AUTHENTICATION = {
  token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION_METHODS,
  token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
};

const SCOPES = [...PLAIN_SCOPES, 'patient/*.rs', 'patient/*.cruds', 'system/*.rs', 'system/*.cruds'];

/** MCP clients request all of these scopes unless they are told otherwise. */
const OF_ASSISTANTS = ['patient/*.rs'];

/** Members that SMART, OpenID Connect and RFC 8414 have in common. */
function common(baseUrl: string, takesGuests: boolean): Record<string, unknown> {
  return {
    issuer: baseUrl,
    authorization_endpoint: `${baseUrl}/oauth/authorize`,
    token_endpoint: `${baseUrl}/oauth/token`,
    revocation_endpoint: `${baseUrl}/oauth/revoke`,
    introspection_endpoint: `${baseUrl}/oauth/introspect`,
    userinfo_endpoint: `${baseUrl}/oauth/userinfo`,
    end_session_endpoint: `${baseUrl}/oauth/logout`,
    jwks_uri: `${baseUrl}/oauth/jwks`,
    scopes_supported: SCOPES,
    response_types_supported: ['code'],
    response_modes_supported: ['query', 'form_post'],
    grant_types_supported: Object.keys(GRANT_WORK),
    code_challenge_methods_supported: ['S256'],
    ...AUTHENTICATION,
    authorization_response_iss_parameter_supported: true,
    // draft-ietf-oauth-client-id-metadata-document, section 5
    ...(takesGuests ? { client_id_metadata_document_supported: true } : {}),
  };
}

/** Returns `/.well-known/smart-configuration`. */
export function smartConfiguration(baseUrl: string, takesGuests: boolean): object {
  return {
    ...common(baseUrl, takesGuests),
    capabilities: [
      'launch-standalone',
      'authorize-post',
      'client-public',
      'client-confidential-symmetric',
      'client-confidential-asymmetric',
      'sso-openid-connect',
      'context-standalone-patient',
      'permission-offline',
      'permission-patient',
      'permission-v1',
      'permission-v2',
    ],
  };
}

/** Returns `/.well-known/oauth-authorization-server` (RFC 8414, section 2). */
export function authorizationServerMetadata(baseUrl: string, takesGuests: boolean): object {
  const {
    token_endpoint_auth_methods_supported: methods,
    token_endpoint_auth_signing_alg_values_supported: algorithms,
  } = AUTHENTICATION;
  return {
    ...common(baseUrl, takesGuests),
    revocation_endpoint_auth_methods_supported: methods,
    revocation_endpoint_auth_signing_alg_values_supported: algorithms,
    introspection_endpoint_auth_methods_supported: methods,
    introspection_endpoint_auth_signing_alg_values_supported: algorithms,
    backchannel_authentication_endpoint: `${baseUrl}/oauth/bc-authorize`,
    backchannel_token_delivery_modes_supported: ['poll'],
    backchannel_user_code_parameter_supported: false,
    ui_locales_supported: ['en', 'de', 'fr', 'es', 'nb', 'ar'],
    service_documentation: `${baseUrl}/docs`,
  };
}

/** Returns `/.well-known/openid-configuration` (OpenID Connect Discovery 1.0, section 3). */
export function openidConfiguration(baseUrl: string, takesGuests: boolean): object {
  return {
    ...authorizationServerMetadata(baseUrl, takesGuests),
    subject_types_supported: ['pairwise'],
    id_token_signing_alg_values_supported: [SIGNING_ALGORITHM],
    claims_supported: ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'fhirUser'],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
  };
}

/** The resources for which access tokens are issued. */
const RESOURCES = [
  { path: '', name: '', what: 'the protected resource' },
  { path: '/fhir/R4', name: 'Fhir', what: 'the FHIR interface as a protected resource' },
  { path: '/v1', name: 'Rest', what: 'REST v1 as a protected resource' },
  { path: '/mcp', name: 'Mcp', what: 'the MCP server as a protected resource' },
] as const;

/** Returns `/.well-known/oauth-protected-resource` for one of our resources (RFC 9728, section 2). */
export function protectedResource(baseUrl: string, path: string): object {
  return {
    resource: baseUrl + path,
    authorization_servers: [baseUrl],
    scopes_supported: path === '/mcp' ? OF_ASSISTANTS : SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Annal',
    resource_documentation: `${baseUrl}/docs`,
  };
}

const PROTECTED_RESOURCE = '/.well-known/oauth-protected-resource';

/**
 * Returns the URL of the metadata for the resource that a path belongs to, for `resource_metadata` (RFC 9728, section 5.1);
 * undefined for `/admin` and `/me`, which accept ID tokens, and for every other path that doesn't accept access tokens.
 */
export function resourceMetadataUrl(baseUrl: string, path: string): string | undefined {
  const own = RESOURCES.find(
    (resource) => resource.path !== '' && (path === resource.path || path.startsWith(`${resource.path}/`)),
  );
  return own === undefined ? undefined : baseUrl + PROTECTED_RESOURCE + own.path;
}

const url = z.url();
const texts = z.array(z.string());

/** The members that every client needs; the document contains more. */
const server = z.looseObject({
  issuer: url,
  authorization_endpoint: url,
  token_endpoint: url,
  jwks_uri: url,
  scopes_supported: texts.optional(),
  grant_types_supported: texts.optional(),
  capabilities: texts.optional(),
});

const resource = z.looseObject({ resource: url, authorization_servers: z.array(url) });

function serve(
  path: string,
  operationId: string,
  summary: string,
  description: string,
  make: (baseUrl: string, takesGuests: boolean) => object,
  schema: z.ZodType = server,
): OpenRoute {
  return openRoute({
    ...{ method: 'GET', path, operationId, summary, description, tag: 'OAuth' },
    answers: { 200: { description: 'The document', schema } },
    run: ({ service }) =>
      answerJson(make(service.baseUrl, service.oauth.takesGuests), {
        headers: { 'Cache-Control': 'public, max-age=300' },
      }),
  });
}

/** The routes. */
export const DISCOVERY_ROUTES: readonly OpenRoute[] = [
  serve(
    '/.well-known/smart-configuration',
    'getSmartConfiguration',
    'SMART App Launch discovery',
    'SMART App Launch 2.2, section “Conformance”: endpoints, scopes and capabilities.',
    smartConfiguration,
  ),
  serve(
    '/fhir/R4/.well-known/smart-configuration',
    'getFhirSmartConfiguration',
    'SMART App Launch discovery, below the FHIR base',
    'The same document, where SMART clients look for it.',
    smartConfiguration,
  ),
  serve(
    '/.well-known/openid-configuration',
    'getOpenidConfiguration',
    'OpenID Connect discovery',
    'OpenID Connect Discovery 1.0, section 3.',
    openidConfiguration,
  ),
  serve(
    '/.well-known/oauth-authorization-server',
    'getServerMetadata',
    'Metadata of the authorization server',
    'RFC 8414: the same members as OpenID Connect discovery.',
    authorizationServerMetadata,
  ),
  ...RESOURCES.map(({ path, name, what }) =>
    serve(
      PROTECTED_RESOURCE + path,
      `get${name}ResourceMetadata`,
      `Metadata of ${what}`,
      'RFC 9728: which authorization server issues tokens for it.',
      (baseUrl) => protectedResource(baseUrl, path),
      resource,
    ),
  ),
];

/** Matches the names after which the path of BASE_URL is inserted (RFC 8414, section 3.1; RFC 9728, section 3.1). */
const INSERTED = /^\/\.well-known\/(?:openid-|oauth-)[a-z-]+/;

/**
 * Returns additional routes to the documents if BASE_URL has a path. They are for proxies that forward the host's
 * `/.well-known`, and aren't in the OpenAPI document.
 */
export function listInsertedRoutes(baseUrl: string): readonly OpenRoute[] {
  const below = new URL(baseUrl).pathname.replace(/\/+$/, '');
  if (below === '') return [];
  const taken = DISCOVERY_ROUTES.map(({ path }) => path);
  return DISCOVERY_ROUTES.filter(({ path }) => INSERTED.test(path))
    .map((route) => ({
      ...route,
      path: route.path.replace(INSERTED, (name) => name + below),
      operationId: `${route.operationId}Inserted`,
    }))
    .filter(({ path }) => !taken.includes(path));
}
