/** `/oauth/token` and its neighbours, and the discovery documents (docs/spec/interface.md, section 4.1). */
import type { Part } from './schemas.ts';
import { BY_GRANT } from './shared.ts';

const REQUEST_ID = { 'Service-Request-Id': { $ref: '#/components/headers/Service-Request-Id' } };
const TEXT = { type: 'string' };
const URL = { type: 'string', format: 'uri' };
const TEXTS = { type: 'array', items: TEXT };
const TOKEN = { type: 'string', example: 'at_Yk3q0Zt7bV1sXc9wLm2NpRd5fH6jL8pS0uV2yA3eGk1' };
const TAG = 'OAuth';

function json(description: string, schema: Part, type = 'application/json'): Part {
  return { description, headers: REQUEST_ID, content: { [type]: { schema } } };
}

const ERROR = {
  type: 'object',
  description: 'RFC 6749, section 5.2.',
  properties: { error: TEXT, error_description: TEXT },
  required: ['error', 'error_description'],
  additionalProperties: false,
};

const ERRORS = {
  400: json('The request, the code or the refresh token is invalid: `error` says which', ERROR),
  401: json('`invalid_client`: client authentication failed', ERROR),
  405: json('Another method', ERROR),
  413: json('The form is too long', ERROR),
  415: json('The body is not a form', ERROR),
  429: json('Too many requests, or too many failed authentications; see `Retry-After`', ERROR),
  500: json('`server_error`', ERROR),
  503: json('`temporarily_unavailable`; see `Retry-After`', ERROR),
};

/** Parameters of client authentication; public applications send `client_id` alone. */
const CLIENT = {
  client_id: {
    type: 'string',
    maxLength: 500,
    description: 'Unless the `Authorization` header names the client.',
    example: 'client_test_Yk3q0Zt7bV1sXc9wLm2Npw',
  },
  client_secret: {
    type: 'string',
    maxLength: 500,
    description: 'Of `client_secret_post`.',
    example: 'the-secret-of-the-application',
  },
  client_assertion_type: { const: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' },
  client_assertion: { type: 'string', description: 'A signed JWT, of `private_key_jwt`.' },
};

function endpoint(
  operationId: string,
  summary: string,
  description: string,
  properties: Part,
  required: readonly string[],
  answer: Part,
): Part {
  const schema = { type: 'object', properties: { ...properties, ...CLIENT }, required };
  return {
    post: {
      operationId,
      summary,
      description,
      tags: [TAG],
      security: [],
      requestBody: { required: true, content: { 'application/x-www-form-urlencoded': { schema } } },
      responses: { 200: answer, ...ERRORS },
    },
  };
}

const TOKENS = {
  type: 'object',
  properties: {
    access_token: TEXT,
    token_type: { const: 'Bearer' },
    expires_in: { type: 'integer', description: 'Seconds; never past the end of the grant.' },
    scope: { type: 'string', description: 'What was granted, in SMART v2 form.' },
    refresh_token: { type: 'string', description: 'With `offline_access`. It works once.' },
    patient: { type: 'string', description: 'The pairwise id of the record’s Patient.' },
    grant_id: TEXT,
    id_token: { type: 'string', description: 'With `openid`.' },
  },
  required: ['access_token', 'token_type', 'expires_in', 'scope'],
  additionalProperties: false,
};

const BACKCHANNEL = {
  type: 'object',
  description: 'OpenID CIBA Core 1.0, section 7.3.',
  properties: {
    auth_req_id: TEXT,
    expires_in: { type: 'integer', description: 'Seconds.' },
    interval: { type: 'integer', description: 'Seconds between two polls, at least.' },
  },
  required: ['auth_req_id', 'expires_in', 'interval'],
  additionalProperties: false,
};

const INTROSPECTION = {
  type: 'object',
  description: 'RFC 7662, section 2.2.',
  properties: {
    active: { type: 'boolean' },
    scope: TEXT,
    client_id: TEXT,
    token_type: { const: 'Bearer' },
    exp: { type: 'integer' },
    iat: { type: 'integer' },
    iss: URL,
    aud: { type: 'array', items: URL },
    sub: TEXT,
    patient: TEXT,
    grant_id: TEXT,
    fhirUser: URL,
  },
  required: ['active'],
  additionalProperties: false,
};

function document(operationId: string, summary: string, description: string, schema: Part): Part {
  return {
    get: {
      operationId,
      summary,
      description,
      tags: [TAG],
      security: [],
      responses: { 200: json('The document', schema), 429: { $ref: '#/components/responses/Json429' } },
    },
  };
}

const SERVER = {
  type: 'object',
  properties: {
    issuer: URL,
    authorization_endpoint: URL,
    token_endpoint: URL,
    jwks_uri: URL,
    scopes_supported: TEXTS,
    grant_types_supported: TEXTS,
    capabilities: TEXTS,
  },
  required: ['issuer', 'authorization_endpoint', 'token_endpoint', 'jwks_uri'],
};

const RESOURCE = {
  type: 'object',
  properties: { resource: URL, authorization_servers: { type: 'array', items: URL } },
  required: ['resource', 'authorization_servers'],
};

function userinfo(operationId: string): Part {
  return {
    operationId,
    summary: 'Who the person behind an access token is',
    description: 'OpenID Connect Core 1.0, section 5.3. Takes a token of a grant with `openid`.',
    tags: [TAG],
    security: [BY_GRANT],
    responses: {
      200: json('The person', {
        type: 'object',
        properties: {
          sub: { type: 'string', description: 'As in the ID token.' },
          fhirUser: { type: 'string', format: 'uri', description: 'As in the ID token.' },
        },
        required: ['sub'],
        additionalProperties: false,
      }),
      400: json('`invalid_request`', ERROR),
      401: json('`invalid_token`: no token, or one that doesn’t work', ERROR),
      403: json('`insufficient_scope`: a token without `openid`, or another credential', ERROR),
      405: ERRORS[405],
      429: ERRORS[429],
      500: ERRORS[500],
      503: ERRORS[503],
    },
  };
}

const LOGOUT_PARAMETERS: Readonly<Record<string, Part>> = {
  id_token_hint: {
    type: 'string',
    description: 'An ID token that the application got for the person, also an expired one.',
  },
  client_id: { type: 'string', description: 'Default: that of the ID token.' },
  post_logout_redirect_uri: {
    type: 'string',
    description: 'One that is registered, character by character.',
  },
  state: { type: 'string', maxLength: 512, description: 'Comes back unchanged.' },
  lang: { type: 'string', description: 'Language of the page.' },
};

const LOGOUT_RESPONSES: Part = {
  200: {
    description: 'The page that asks, or that says that the person is signed out',
    headers: REQUEST_ID,
    content: { 'text/html': { schema: TEXT } },
  },
  303: { description: 'To `post_logout_redirect_uri`', headers: REQUEST_ID },
  429: { $ref: '#/components/responses/Json429' },
};

const refusedForm = (description: string): Part => ({
  description,
  headers: REQUEST_ID,
  content: { 'text/html': { schema: TEXT } },
});

const LOGOUT: Part = {
  get: {
    operationId: 'getLogout',
    summary: 'End a person’s session here',
    description:
      'OpenID Connect RP-Initiated Logout 1.0; a browser opens it. With an ID token of the person as `id_token_hint` the session ends at once, else a page asks.',
    tags: [TAG],
    security: [],
    parameters: Object.entries(LOGOUT_PARAMETERS).map(([name, schema]) => ({ name, in: 'query', schema })),
    responses: LOGOUT_RESPONSES,
  },
  post: {
    operationId: 'postLogout',
    summary: 'End a person’s session here, with a form',
    description: 'Leads to the same with GET. The page that asks sends its own form here.',
    tags: [TAG],
    security: [],
    requestBody: {
      content: {
        'application/x-www-form-urlencoded': { schema: { type: 'object', properties: LOGOUT_PARAMETERS } },
      },
    },
    responses: {
      ...LOGOUT_RESPONSES,
      403: refusedForm('The form isn’t from a page of this session'),
      413: refusedForm('The form is too long'),
      415: refusedForm('The body is not a form'),
    },
  },
};

/** The paths. */
export const OAUTH_PATHS: Readonly<Record<string, Part>> = {
  '/oauth/token': endpoint(
    'createToken',
    'Exchange a code, a refresh token or credentials for tokens',
    'RFC 6749, section 3.2; docs/oauth.md. Each grant type needs its own parameters. A code and a refresh token work once: presented again, they end all tokens of their chain.',
    {
      grant_type: {
        type: 'string',
        example: 'client_credentials',
        enum: [
          'authorization_code',
          'refresh_token',
          'client_credentials',
          'urn:openid:params:grant-type:ciba',
          'urn:annal:params:oauth:grant-type:identity',
        ],
      },
      code: TEXT,
      code_verifier: { type: 'string', minLength: 43, maxLength: 128 },
      redirect_uri: URL,
      refresh_token: TEXT,
      auth_req_id: { type: 'string', description: 'Of `/oauth/bc-authorize`, of the CIBA grant.' },
      scope: { type: 'string', maxLength: 8_000 },
      resource: { type: 'array', items: URL, maxItems: 10, description: 'RFC 8707.' },
      subject_token: {
        type: 'string',
        description: 'An ID token not older than five minutes, of the identity grant.',
      },
      patient: { type: 'string', description: 'The id of a Patient, of the identity grant.' },
    },
    ['grant_type'],
    json('The tokens', TOKENS),
  ),
  '/oauth/revoke': endpoint(
    'revokeToken',
    'Revoke a token',
    'RFC 7009. A refresh token is revoked with all tokens of its chain, an access token alone. Unknown tokens and those of other clients change nothing.',
    { token: TOKEN, token_type_hint: { type: 'string', description: 'Not needed.' } },
    ['token'],
    json('Done', { type: 'object', additionalProperties: false }),
  ),
  '/oauth/introspect': endpoint(
    'introspectToken',
    'Ask about a token',
    'RFC 7662. Answers the client that the token belongs to, and confidential clients of the same project; to others every token is inactive.',
    { token: TOKEN, token_type_hint: { type: 'string', description: 'Not needed.' } },
    ['token'],
    json('What the token stands for', INTROSPECTION),
  ),
  '/oauth/bc-authorize': endpoint(
    'createAccessRequest',
    'Ask a person for access without sending them to a page',
    'OpenID CIBA Core 1.0, poll mode; docs/oauth.md. The person finds the request under `/me/access-requests`; poll `/oauth/token` meanwhile. The answer is the same whether or not there is such a person.',
    {
      scope: {
        type: 'string',
        maxLength: 8_000,
        description: 'With `openid`.',
        example: 'openid patient/Observation.rs',
      },
      login_hint: {
        type: 'string',
        maxLength: 254,
        description: 'An e-mail address, or the id under which the application knows the patient.',
        example: 'nora@example.org',
      },
      id_token_hint: { type: 'string', description: 'An ID token of this service; instead of `login_hint`.' },
      binding_message: { type: 'string', maxLength: 64, description: 'Shown to the person as text.' },
      requested_expiry: { type: 'integer', minimum: 1, description: 'In seconds; at most 600 count.' },
      resource: { type: 'array', items: URL, maxItems: 10, description: 'RFC 8707.' },
    },
    ['scope'],
    json('The request waits for the person', BACKCHANNEL),
  ),
  '/oauth/userinfo': {
    get: userinfo('getUserinfo'),
    post: userinfo('postUserinfo'),
  },
  '/oauth/logout': LOGOUT,
  '/oauth/jwks': {
    get: {
      operationId: 'getKeySet',
      summary: 'The keys that verify ID tokens',
      description: 'Fetch it again when a token names a key that it doesn’t have: keys are rotated.',
      tags: [TAG],
      security: [],
      responses: {
        200: json(
          'RFC 7517',
          {
            type: 'object',
            properties: { keys: { type: 'array', items: { type: 'object' } } },
            required: ['keys'],
          },
          'application/jwk-set+json',
        ),
        405: ERRORS[405],
        429: ERRORS[429],
        500: ERRORS[500],
        503: ERRORS[503],
      },
    },
  },
  '/.well-known/smart-configuration': document(
    'getSmartConfiguration',
    'SMART App Launch discovery',
    'SMART App Launch 2.2, section “Conformance”: endpoints, scopes and capabilities.',
    SERVER,
  ),
  '/fhir/R4/.well-known/smart-configuration': document(
    'getFhirSmartConfiguration',
    'SMART App Launch discovery, below the FHIR base',
    'The same document, where SMART clients look for it.',
    SERVER,
  ),
  '/.well-known/openid-configuration': document(
    'getOpenidConfiguration',
    'OpenID Connect discovery',
    'OpenID Connect Discovery 1.0, section 3.',
    SERVER,
  ),
  '/.well-known/oauth-authorization-server': document(
    'getServerMetadata',
    'Metadata of the authorization server',
    'RFC 8414: the same members as OpenID Connect discovery.',
    SERVER,
  ),
  '/.well-known/oauth-protected-resource': document(
    'getResourceMetadata',
    'Metadata of the protected resource',
    'RFC 9728: which authorization server issues tokens for it.',
    RESOURCE,
  ),
  '/.well-known/oauth-protected-resource/fhir/R4': document(
    'getFhirResourceMetadata',
    'Metadata of the FHIR interface as a protected resource',
    'RFC 9728: which authorization server issues tokens for it.',
    RESOURCE,
  ),
  '/.well-known/oauth-protected-resource/v1': document(
    'getRestResourceMetadata',
    'Metadata of REST v1 as a protected resource',
    'RFC 9728: which authorization server issues tokens for it.',
    RESOURCE,
  ),
};
