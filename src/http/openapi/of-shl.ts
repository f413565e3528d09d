/** `/shl`: the endpoints for recipients of SMART Health Links (docs/spec/interface.md, section 4.6). */
import type { Part } from './schemas.ts';

const REQUEST_ID = { 'Service-Request-Id': { $ref: '#/components/headers/Service-Request-Id' } };
const TEXT = { type: 'string' };

const LINK = { name: 'link_id', in: 'path', required: true, description: 'Of the link.', schema: TEXT };

const json = (description: string, schema: Part): Part => ({
  description,
  headers: REQUEST_ID,
  content: { 'application/json': { schema } },
});

const FILE = {
  type: 'object',
  properties: {
    contentType: { const: 'application/fhir+json' },
    embedded: { type: 'string', description: 'The file, a JWE in compact form.' },
    location: {
      type: 'string',
      format: 'uri',
      description: 'Where the file can be fetched with GET, once and within an hour.',
    },
  },
  required: ['contentType'],
  additionalProperties: false,
};

const MANIFEST = {
  type: 'object',
  properties: { files: { type: 'array', items: FILE } },
  required: ['files'],
  additionalProperties: false,
};

const REQUEST = {
  type: 'object',
  properties: {
    recipient: {
      type: 'string',
      minLength: 1,
      maxLength: 1_000,
      description: 'Who opens the link: a name or an organization. The person who shared it sees this.',
    },
    passcode: { type: 'string', maxLength: 1_000, description: 'For links with the flag `P`.' },
    embeddedLengthMax: {
      type: 'integer',
      minimum: 0,
      description: 'Longest file that is embedded, in characters; longer ones have a `location`.',
    },
  },
  required: ['recipient'],
  examples: [{ recipient: 'Dr Lind, Lakeside Clinic', passcode: '402617' }],
};

const WRONG = {
  type: 'object',
  properties: {
    remainingAttempts: {
      type: 'integer',
      description: 'Wrong passcodes that are left before the link is closed for good.',
    },
    error: { type: 'object' },
  },
  required: ['remainingAttempts', 'error'],
  additionalProperties: false,
};

const FAULTS = Object.fromEntries(
  [400, 404, 405, 413, 415, 422, 429, 500, 503].map((status) => [
    status,
    { $ref: `#/components/responses/Json${status}` },
  ]),
);

const manifest = (operationId: string, summary: string, parameters: readonly Part[]): Part => ({
  post: {
    operationId,
    summary,
    description:
      'SMART Health Links 1.0. The answer is the same 404 whether the link never existed, has ended or no longer shows anything. Every attempt is in the access log of the record. `Idempotency-Key` is ignored.',
    tags: ['Patients and consent'],
    security: [],
    parameters,
    requestBody: { required: true, content: { 'application/json': { schema: REQUEST } } },
    responses: {
      200: json('The manifest', MANIFEST),
      401: json('The passcode is missing or wrong', WRONG),
      ...FAULTS,
    },
  },
});

/** The paths, without a credential. */
export const SHL_PATHS: Readonly<Record<string, Part>> = {
  '/shl/{link_id}': manifest('openSharedLinkById', 'Open a shared link by its id', [LINK]),
  '/shl/{link_id}/{secret}': manifest('openSharedLink', 'Open a shared link: the `url` in it', [
    LINK,
    {
      name: 'secret',
      in: 'path',
      required: true,
      description: '256 bits that are derived from the key.',
      schema: TEXT,
    },
  ]),
  '/shl/{link_id}/files/{ticket}': {
    get: {
      operationId: 'getSharedLinkFile',
      summary: 'A file of a shared link, once',
      description: 'The `location` of a manifest. It works for one GET, within an hour.',
      tags: ['Patients and consent'],
      security: [],
      parameters: [LINK, { name: 'ticket', in: 'path', required: true, schema: TEXT }],
      responses: {
        200: {
          description: 'The file, a JWE in compact form',
          headers: REQUEST_ID,
          content: { 'application/jose': { schema: TEXT } },
        },
        404: { $ref: '#/components/responses/Json404' },
        413: { $ref: '#/components/responses/Json413' },
        429: { $ref: '#/components/responses/Json429' },
        500: { $ref: '#/components/responses/Json500' },
        503: { $ref: '#/components/responses/Json503' },
      },
    },
  },
};
