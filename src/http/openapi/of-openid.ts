/** Describes OpenID Connect's `/oauth/userinfo` and `/oauth/logout` (docs/oauth.md). */
import type { Part } from './schemas.ts';

const REQUEST_ID = { 'Service-Request-Id': { $ref: '#/components/headers/Service-Request-Id' } };
const TEXT = { type: 'string' };
const TAG = 'OAuth';

const LOGOUT_PARAMETERS: Readonly<Record<string, Part>> = {
  id_token_hint: {
    type: 'string',
    description: 'An ID token that the application got for the person; it may have expired.',
  },
  client_id: { type: 'string', description: 'Default: the client that the ID token names.' },
  post_logout_redirect_uri: {
    type: 'string',
    description: 'A registered URI; it must match character by character.',
  },
  state: { type: 'string', maxLength: 512, description: 'Returned unchanged.' },
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
      'OpenID Connect RP-Initiated Logout 1.0; a browser opens this URL. If `id_token_hint` is an ID token for the person, the session ends at once; otherwise a page asks first.',
    tags: [TAG],
    security: [],
    parameters: Object.entries(LOGOUT_PARAMETERS).map(([name, schema]) => ({ name, in: 'query', schema })),
    responses: LOGOUT_RESPONSES,
  },
  post: {
    operationId: 'postLogout',
    summary: 'End a person’s session here, with a form',
    description:
      'An application’s form is redirected to the same request with GET. The page that asks sends its own form here.',
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
export const LOGOUT_PATHS: Readonly<Record<string, Part>> = { '/oauth/logout': LOGOUT };
