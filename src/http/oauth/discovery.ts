/**
 * Discovery documents: SMART App Launch 2.2 ("Conformance"), OpenID Connect Discovery 1.0, OpenID CIBA Core 1.0
 * (section 4), RFC 8414 and RFC 9728. They state what works and nothing else.
 */
import Router from '@koa/router';
import { CLIENT_AUTHENTICATION_METHODS } from '#src/oauth/client-authentication.ts';
import { ASSERTION_ALGORITHMS } from '#src/oauth/key-set.ts';
import { PLAIN_SCOPES } from '#src/oauth/scopes.ts';
import { SIGNING_ALGORITHM } from '#src/oauth/signing-keys.ts';
import { GRANT_WORK } from './endpoints/token.ts';

/** Clients that authenticate for introspection are known ones, so `none` is for public applications here, too. */
const AUTHENTICATION = {
  token_endpoint_auth_methods_supported: CLIENT_AUTHENTICATION_METHODS,
  token_endpoint_auth_signing_alg_values_supported: ASSERTION_ALGORITHMS,
};

const SCOPES = [...PLAIN_SCOPES, 'patient/*.rs', 'patient/*.cruds', 'system/*.rs', 'system/*.cruds'];

/** Members of SMART, OpenID Connect and RFC 8414 alike. */
function common(baseUrl: string): Record<string, unknown> {
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
  };
}

/** Returns `/.well-known/smart-configuration`. */
export function smartConfiguration(baseUrl: string): object {
  return {
    ...common(baseUrl),
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
export function authorizationServerMetadata(baseUrl: string): object {
  const {
    token_endpoint_auth_methods_supported: methods,
    token_endpoint_auth_signing_alg_values_supported: algorithms,
  } = AUTHENTICATION;
  return {
    ...common(baseUrl),
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
export function openidConfiguration(baseUrl: string): object {
  return {
    ...authorizationServerMetadata(baseUrl),
    subject_types_supported: ['pairwise'],
    id_token_signing_alg_values_supported: [SIGNING_ALGORITHM],
    claims_supported: ['iss', 'sub', 'aud', 'exp', 'iat', 'auth_time', 'nonce', 'fhirUser'],
    claims_parameter_supported: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    prompt_values_supported: ['none', 'login', 'consent', 'select_account'],
  };
}

/** Paths of the resources that access tokens are for. */
const RESOURCES = ['', '/fhir/R4', '/v1'] as const;

/** Returns `/.well-known/oauth-protected-resource` of one of our resources (RFC 9728, section 2). */
export function protectedResource(baseUrl: string, path: string): object {
  return {
    resource: baseUrl + path,
    authorization_servers: [baseUrl],
    scopes_supported: SCOPES,
    bearer_methods_supported: ['header'],
    resource_name: 'Annal',
    resource_documentation: `${baseUrl}/docs`,
  };
}

const PROTECTED_RESOURCE = '/.well-known/oauth-protected-resource';

/**
 * Returns the URL of the metadata of the resource that a path belongs to, for `resource_metadata` (RFC 9728, section
 * 5.1); undefined for `/admin` and `/me`, which take ID tokens, and for every other path that no access token opens.
 */
export function resourceMetadataUrl(baseUrl: string, path: string): string | undefined {
  const own = RESOURCES.find(
    (resource) => resource !== '' && (path === resource || path.startsWith(`${resource}/`)),
  );
  return own === undefined ? undefined : baseUrl + PROTECTED_RESOURCE + own;
}

/**
 * Returns the routes. If BASE_URL has a path, each document is also below the name that RFC 8414, section 3.1, and RFC
 * 9728, section 3.1, give it, for proxies that pass `/.well-known` of the host on.
 */
export function discoveryRouter(baseUrl: string): Router {
  const router = new Router();
  const path = new URL(baseUrl).pathname.replace(/\/+$/, '');
  const serve = (at: string, document: object): void => {
    const text = JSON.stringify(document);
    router.get(at, (ctx) => {
      ctx.set('Cache-Control', 'public, max-age=300');
      ctx.type = 'application/json';
      ctx.body = text;
    });
  };
  const paths = path === '' ? [''] : ['', path];
  const smart = smartConfiguration(baseUrl);
  for (const at of ['', '/fhir/R4']) serve(`${at}/.well-known/smart-configuration`, smart);
  for (const below of paths) {
    serve(`/.well-known/openid-configuration${below}`, openidConfiguration(baseUrl));
    serve(`/.well-known/oauth-authorization-server${below}`, authorizationServerMetadata(baseUrl));
    for (const resource of RESOURCES)
      serve(`${PROTECTED_RESOURCE}${below}${resource}`, protectedResource(baseUrl, resource));
  }
  return router;
}
