/** Describes `/oauth/authorize`, which browsers open for a person (docs/spec/interface.md, section 4.1). */
import type { Part } from './schemas.ts';

const REQUEST_ID = { 'Service-Request-Id': { $ref: '#/components/headers/Service-Request-Id' } };
const TEXT = { type: 'string' };

const REQUIRED = ['response_type', 'client_id', 'redirect_uri', 'state', 'code_challenge'];

/** The parameters, in the query or in the form. */
const PARAMETERS: Readonly<Record<string, Part>> = {
  response_type: { const: 'code' },
  client_id: { type: 'string', maxLength: 200 },
  redirect_uri: {
    type: 'string',
    maxLength: 2_000,
    description: 'A registered redirect URI; it must match character by character.',
  },
  scope: { type: 'string', maxLength: 8_000, description: 'Default: the registered scopes.' },
  state: { type: 'string', minLength: 1, maxLength: 512, description: 'Returned unchanged.' },
  nonce: {
    type: 'string',
    minLength: 1,
    maxLength: 512,
    description: 'Returned in the ID token.',
  },
  response_mode: {
    enum: ['query', 'form_post'],
    default: 'query',
    description: '`form_post`: the answer comes as a form that the page sends to the redirect URI.',
  },
  code_challenge: { type: 'string', minLength: 43, maxLength: 128 },
  code_challenge_method: { const: 'S256', default: 'S256' },
  aud: { type: 'string', format: 'uri', description: 'A base URL of this service.' },
  resource: {
    type: 'array',
    items: { type: 'string', format: 'uri' },
    maxItems: 10,
    description: 'Base URLs of this service below which the tokens work (RFC 8707).',
  },
  purpose: { type: 'string', maxLength: 100, description: 'Shown to the person, for example `treatment`.' },
  patient: { type: 'string', maxLength: 100, description: 'Pairwise id of the patient to preselect.' },
  lang: { type: 'string', maxLength: 35, default: 'en', description: 'Language of the page.' },
  prompt: { type: 'string', description: '`none`, or some of `login`, `consent`, `select_account`.' },
  max_age: {
    type: 'integer',
    minimum: 0,
    description: 'Maximum number of seconds since the person signed in.',
  },
  login_hint: { type: 'string', maxLength: 254 },
};

function page(description: string, json = false): Part {
  const content = { 'text/html': { schema: TEXT } };
  const error = { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } };
  return { description, headers: REQUEST_ID, content: json ? { ...content, ...error } : content };
}

const RESPONSES = {
  200: page('The consent page; with `form_post`, the page that sends the answer'),
  303: {
    description:
      'Redirects to the sign-in, or to the redirect URI with `code` or `error`, and with `state` and `iss` (RFC 9207).',
    headers: REQUEST_ID,
  },
  400: page(
    'The application or the redirect URI is unknown, or the request is invalid and nobody is signed in; a page says so',
    true,
  ),
  403: page('The organization behind a production application has no confirmed domain; a page says so'),
  422: page('`state` or `code_challenge` has a wrong length; a page names the parameter'),
  429: { $ref: '#/components/responses/Json429' },
  500: page('The service failed'),
  503: page('The service is unavailable', true),
};

const COMMON = { tags: ['Patients and consent'], security: [] };

/** The path. */
export const AUTHORIZE_PATH: Part = {
  get: {
    ...COMMON,
    operationId: 'getAuthorize',
    summary: 'Ask a person for access to a record',
    description: 'A browser opens this URL. The person signs in, and the consent page asks for a decision.',
    parameters: Object.entries(PARAMETERS).map(([name, schema]) => ({
      name,
      in: 'query',
      ...(REQUIRED.includes(name) ? { required: true } : {}),
      schema,
    })),
    responses: RESPONSES,
  },
  post: {
    ...COMMON,
    operationId: 'postAuthorize',
    summary: 'Ask a person for access to a record, with a form',
    description: 'Like GET, for parameters that are too long for a URL.',
    requestBody: {
      required: true,
      content: {
        'application/x-www-form-urlencoded': {
          schema: { type: 'object', properties: PARAMETERS, required: REQUIRED },
          example: {
            response_type: 'code',
            client_id: 'client_test_Yk3q0Zt7bV1sXc9wLm2Npw',
            redirect_uri: 'http://localhost:5173/callback',
            state: 'af0ifjsldkj',
            code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
          },
        },
      },
    },
    responses: {
      ...RESPONSES,
      413: { $ref: '#/components/responses/Json413' },
      415: { $ref: '#/components/responses/Json415' },
    },
  },
};
