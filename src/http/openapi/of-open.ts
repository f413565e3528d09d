/** The routes that need no credential: health, metrics and the service's own description. */
import { ISSUER, WEBFINGER } from '../webfinger.ts';
import { AUTHORIZE_PATH } from './of-authorize.ts';
import { OAUTH_PATHS } from './of-oauth.ts';
import { SHL_PATHS } from './of-shl.ts';
import type { Part } from './schemas.ts';

const REQUEST_ID = { 'Service-Request-Id': { $ref: '#/components/headers/Service-Request-Id' } };

function get(
  operationId: string,
  summary: string,
  description: string,
  responses: Part,
): { readonly get: Part } {
  return { get: { operationId, summary, description, tags: ['Service'], security: [], responses } };
}

function answer(description: string, type: string, schema: Part): Part {
  return { description, headers: REQUEST_ID, content: { [type]: { schema } } };
}

const TEXT = { type: 'string' };
const UNCHANGED = { description: 'Unchanged', headers: REQUEST_ID };

const page = (description: string) => ({ 200: answer(description, 'text/html', TEXT) });

const inPath = (name: string): Part => ({ name, in: 'path', required: true, schema: TEXT });

/** Describes a page whose URL has parameters. */
function pageAt(
  operationId: string,
  summary: string,
  description: string,
  parameters: readonly Part[],
): Part {
  const { get: shown } = get(operationId, summary, description, {
    ...page('The page'),
    404: { $ref: '#/components/responses/Json404' },
  });
  return { get: { ...shown, parameters } };
}

/** Returns a file of `docs/`: a page, or the text of an example. */
function guideAt(operationId: string, summary: string, parameters: readonly Part[]): Part {
  const says = 'Shows the files in `docs/` of this version: Markdown as a page, others as text.';
  const { get: shown } = get(operationId, summary, says, {
    200: {
      description: 'The page, or the text',
      headers: REQUEST_ID,
      content: { 'text/html': { schema: TEXT }, 'text/plain': { schema: TEXT } },
    },
    304: UNCHANGED,
    404: { $ref: '#/components/responses/Json404' },
  });
  return { get: { ...shown, parameters } };
}

const checks = { type: 'object', additionalProperties: { type: 'string', enum: ['ok', 'unavailable'] } };

/** The paths, without a credential. */
export const OPEN_PATHS: Readonly<Record<string, Part>> = {
  '/': get(
    'getStart',
    'Where everything is: an index, or a page for browsers',
    'Names the URLs of the interfaces. Browsers get a page with links.',
    {
      200: {
        description: 'The index; the page for `Accept: text/html`',
        headers: REQUEST_ID,
        content: {
          'application/json': {
            schema: {
              type: 'object',
              description: 'URLs; `sign_in` is null where the development issuer does not run.',
              properties: { name: { const: 'Annal' }, version: TEXT, base_url: TEXT },
              required: ['name', 'version', 'base_url'],
              additionalProperties: { type: ['string', 'null'] },
            },
          },
          'text/html': { schema: TEXT },
        },
      },
    },
  ),
  '/health/live': get(
    'getLive',
    'Check that the process answers',
    'For liveness probes. It checks nothing else, not even the database.',
    {
      200: answer('It does', 'application/json', {
        type: 'object',
        properties: { status: { const: 'live' } },
        required: ['status'],
      }),
    },
  ),
  '/health/ready': get(
    'getReady',
    'Check that requests can be served',
    'For readiness probes: 503 names the parts that are missing.',
    {
      200: answer('They can', 'application/json', {
        type: 'object',
        properties: {
          status: { const: 'ready' },
          checks,
          message: {
            type: 'string',
            description:
              'What an operator should know: this instance is too old for events that newer ones wrote.',
          },
        },
        required: ['status', 'checks'],
      }),
      503: answer('Parts are missing', 'application/json', {
        type: 'object',
        properties: { status: { const: 'unavailable' }, checks, message: { type: 'string' } },
        required: ['status', 'checks', 'message'],
      }),
    },
  ),
  '/metrics': get('getMetrics', 'Measures, for Prometheus', 'docs/observability.md explains each measure.', {
    200: answer('Prometheus’ text format', 'text/plain', TEXT),
  }),
  '/openapi.json': get(
    'getOpenApi',
    'This document',
    'It is generated from the routes. `ETag` changes when the document does.',
    {
      200: answer('OpenAPI 3.1', 'application/json', {
        type: 'object',
        properties: { openapi: { type: 'string' } },
        required: ['openapi'],
      }),
      304: UNCHANGED,
    },
  ),
  [WEBFINGER]: {
    get: {
      operationId: 'getWebfinger',
      summary: 'Where the owner of an e-mail address signs in',
      description: `OpenID Connect Discovery 1.0, section 2: the link \`${ISSUER}\` names the issuer.`,
      tags: ['Single sign-on'],
      security: [],
      parameters: [
        {
          name: 'resource',
          in: 'query',
          required: true,
          description: '`acct:` and the address.',
          schema: { type: 'string', maxLength: 400 },
        },
        {
          name: 'rel',
          in: 'query',
          description: 'The relations of the links to return; default: all.',
          schema: { type: 'array', items: TEXT },
        },
      ],
      responses: {
        200: answer('The links of the account', 'application/jrd+json', {
          type: 'object',
          properties: {
            subject: TEXT,
            links: {
              type: 'array',
              items: {
                type: 'object',
                properties: {
                  rel: { const: ISSUER },
                  href: { type: 'string', format: 'uri' },
                  properties: { type: 'object', additionalProperties: TEXT },
                },
                required: ['rel', 'href', 'properties'],
              },
            },
          },
          required: ['subject', 'links'],
        }),
        400: { $ref: '#/components/responses/Json400' },
        404: { $ref: '#/components/responses/Json404' },
        429: { $ref: '#/components/responses/Json429' },
        503: { $ref: '#/components/responses/Json503' },
      },
    },
  },
  '/docs': get(
    'getDocs',
    'This document as a page',
    'Groups of operations; each opens in its place, with a form that sends the request. It loads nothing from elsewhere.',
    page('The page'),
  ),
  '/docs/operations/{operation_id}': pageAt(
    'getDocsOfOperation',
    'An operation of this document as a page',
    'With a form that sends the request.',
    [inPath('operation_id')],
  ),
  '/docs/guides': get('getGuides', 'The index of the guides', 'Of all pages below it.', page('The page')),
  '/docs/guides/{guide}': guideAt('getGuide', 'A guide as a page', [inPath('guide')]),
  '/docs/guides/{folder}/{guide}': guideAt(
    'getGuideInFolder',
    'A decision, a part of the specification or an example',
    [inPath('folder'), inPath('guide')],
  ),
  '/docs/search': pageAt(
    'searchDocs',
    'Search guides and operations',
    'A page with the guides and operations that have all words.',
    [{ name: 'q', in: 'query', description: 'At most eight words count.', schema: TEXT }],
  ),
  '/docs/assets/{name}': {
    get: {
      operationId: 'getDocsAsset',
      summary: 'A file that the pages load',
      description: 'Styles and scripts of `/docs`.',
      tags: ['Service'],
      security: [],
      parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
      responses: {
        200: {
          description: 'The file',
          headers: REQUEST_ID,
          content: { 'text/css': { schema: TEXT }, 'text/javascript': { schema: TEXT } },
        },
        304: UNCHANGED,
        404: { $ref: '#/components/responses/Json404' },
      },
    },
  },
  '/oauth/authorize': AUTHORIZE_PATH,
  ...OAUTH_PATHS,
  ...SHL_PATHS,
  '/oauth/logos/{application}/{sha256}': {
    get: {
      operationId: 'getApplicationLogo',
      summary: 'The logo of an application, for the consent page',
      description: 'The file whose SHA-256 the path names.',
      tags: ['Applications'],
      security: [],
      parameters: ['application', 'sha256'].map((name) => ({
        name,
        in: 'path',
        required: true,
        schema: TEXT,
      })),
      responses: {
        200: {
          description: 'The file',
          headers: REQUEST_ID,
          content: Object.fromEntries(
            ['image/png', 'image/jpeg', 'image/webp'].map((type) => [
              type,
              { schema: { type: 'string', format: 'binary' } },
            ]),
          ),
        },
        400: { $ref: '#/components/responses/Json400' },
        404: { $ref: '#/components/responses/Json404' },
        429: { $ref: '#/components/responses/Json429' },
      },
    },
  },
  '/docs/errors': get(
    'getDocsOfErrors',
    'Every type of error, explained',
    '`doc_url` of an error leads here.',
    page('The page'),
  ),
};
