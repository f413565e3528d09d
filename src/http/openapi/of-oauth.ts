/** `/oauth/token` and its neighbours (docs/spec/interface.md, section 4.1). */
import { ERRORS, json, TAG, TEXT, URL } from './oauth-parts.ts';
import { DISCOVERY_PATHS } from './of-discovery.ts';
import { OPENID_PATHS } from './of-openid.ts';
import type { Part } from './schemas.ts';

const TOKEN = { type: 'string', example: 'at_Yk3q0Zt7bV1sXc9wLm2NpRd5fH6jL8pS0uV2yA3eGk1' };

/** Parameters of client authentication; public applications send only `client_id`. */
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
    scope: { type: 'string', description: 'The granted scopes, in SMART v2 form.' },
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
        description: 'For the identity grant: an ID token not older than five minutes.',
      },
      patient: { type: 'string', description: 'For the identity grant: the id of a Patient.' },
    },
    ['grant_type'],
    json('The tokens', TOKENS),
  ),
  '/oauth/revoke': endpoint(
    'revokeToken',
    'Revoke a token',
    'RFC 7009. Revoking a refresh token ends all tokens of its chain; revoking an access token ends only that token. Unknown tokens and those of other clients change nothing.',
    { token: TOKEN, token_type_hint: { type: 'string', description: 'Not needed.' } },
    ['token'],
    json('Done', { type: 'object', additionalProperties: false }),
  ),
  '/oauth/introspect': endpoint(
    'introspectToken',
    'Introspect a token',
    'RFC 7662. Answers the client that the token belongs to, and confidential clients of the same project; to others every token is inactive.',
    { token: TOKEN, token_type_hint: { type: 'string', description: 'Not needed.' } },
    ['token'],
    json('The state and rights of the token', INTROSPECTION),
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
      requested_expiry: {
        type: 'integer',
        minimum: 1,
        description: 'In seconds; values above 600 count as 600.',
      },
      resource: { type: 'array', items: URL, maxItems: 10, description: 'RFC 8707.' },
    },
    ['scope'],
    json('The request is pending until the person answers', BACKCHANNEL),
  ),
  ...OPENID_PATHS,
  ...DISCOVERY_PATHS,
};
