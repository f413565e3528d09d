/** Defines what all operations in the OpenAPI document share: headers, parameters, error responses, security schemes. */
import { AUTHOR_TYPES } from '#src/shared/access/author.ts';
import { ERRORS } from '../error-texts.ts';
import type { Part } from './schemas.ts';

const text = { type: 'string' };

/** Headers of answers. */
export const HEADERS: Part = {
  'Service-Request-Id': {
    description: 'Id of the request; keep it for support.',
    required: true,
    schema: { type: 'string', pattern: '^req_[A-Za-z0-9_-]{22,26}$' },
  },
  RateLimit: {
    description: 'What is left of the limit: `"default";r=599;t=60`.',
    schema: text,
  },
  'RateLimit-Policy': {
    description: 'The limit, `"default";q=600;w=60`: the number of requests, and the window in seconds.',
    schema: text,
  },
  'Retry-After': {
    description: 'Seconds to wait before you retry the request.',
    schema: { type: 'integer', minimum: 0 },
  },
  'Idempotent-Replayed': {
    description: '`true` if this is the stored answer of an earlier request with this Idempotency-Key.',
    schema: { type: 'string', enum: ['true'] },
  },
  Allow: { description: 'The supported methods.', schema: text },
  'WWW-Authenticate': { description: 'RFC 6750.', schema: text },
  ETag: { description: 'The version, `W/"3"`.', schema: text },
  'Last-Modified': { description: 'When the version was recorded, to the second.', schema: text },
  Location: { description: 'URL of the version that was written.', schema: text },
};

const header = (name: string, description: string, schema: Part = text): Part => ({
  name,
  in: 'header',
  description,
  schema,
});

/** Request headers, by the names of their components. */
export const PARAMETERS: Readonly<Record<string, Part>> = {
  IdempotencyKey: header(
    'Idempotency-Key',
    'Makes the request safe to retry: the service executes it once and stores the answer for 24 hours.',
    { type: 'string', pattern: '^[\\x21-\\x7e]{1,255}$' },
  ),
  AuthorType: header('X-Service-Author-Type', 'The kind of author.', {
    type: 'string',
    enum: AUTHOR_TYPES,
    default: 'import',
  }),
  AuthorModel: header(
    'X-Service-Author-Model',
    'For an AI: the model that wrote the data, such as `summarizer-2`.',
  ),
  AuthorRef: header('X-Service-Author-Ref', 'The author: `Practitioner/<id>` in the directory.'),
  SourceSystem: header('X-Service-Source-System', 'Name of the system the data comes from.'),
  OriginId: header('X-Service-Origin-Id', 'The id of the data in that system.'),
  ActingAs: header(
    'X-Service-Acting-As',
    'The person who acts: an active Practitioner or PractitionerRole in the directory.',
  ),
  OnBehalfOf: header('X-Service-On-Behalf-Of', 'An active Organization in the directory.'),
  IfMatch: header(
    'If-Match',
    'Write only if this is the current version, such as `W/"3"`; otherwise the answer is 412.',
  ),
  IfNoneMatch: header('If-None-Match', 'The answer is 304 if this is still the current version.'),
  IfModifiedSince: header('If-Modified-Since', 'The answer is 304 if nothing has been recorded since.'),
  IfNoneExist: header('If-None-Exist', 'Conditional create: search criteria that must match nothing.'),
  Prefer: header('Prefer', '`return=minimal|representation|OperationOutcome`, `handling=strict|lenient`.'),
  PreferHandling: {
    ...header(
      'Prefer',
      '`handling=strict` refuses unknown parameters; without it they are ignored, and the first entry names them.',
    ),
    example: 'handling=strict',
  },
};

/**
 * Returns the credentials (docs/spec/interface.md, section 5).
 * @param baseUrl the service's URL, without a trailing slash
 */
export const securitySchemes = (baseUrl: string): Part => ({
  apiKey: {
    type: 'http',
    scheme: 'bearer',
    description: 'A project’s API key: `sk_test_…` for its sandbox, `sk_live_…` for production.',
  },
  apiKeyHeader: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'The same key.' },
  idToken: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description:
      'ID token from an OpenID Connect issuer that the installation trusts. During development, while no issuer is configured, the page `/dev` signs you in and shows a token.',
  },
  clientCredentials: {
    type: 'oauth2',
    description:
      'An application’s own access token (`at_…`). It works like an API key for the application’s project and environment.',
    flows: {
      clientCredentials: {
        tokenUrl: `${baseUrl}/oauth/token`,
        scopes: {
          'system/*.rs':
            'Like the scope `read` of an API key. With a type instead of `*`: only for that type.',
          'system/*.cruds': 'Like the scopes `read` and `write` of an API key.',
        },
      },
    },
  },
  patientGrant: {
    type: 'oauth2',
    description:
      'Access token (`at_…`) for an application that a patient has allowed to use one record, until the grant ends. The application knows the record by a pairwise id. Routes that don’t name this scheme return 403. Every read is in the record’s access log.',
    flows: {
      authorizationCode: {
        authorizationUrl: `${baseUrl}/oauth/authorize`,
        tokenUrl: `${baseUrl}/oauth/token`,
        refreshUrl: `${baseUrl}/oauth/token`,
        scopes: {
          'patient/*.rs':
            'Read and search the record. A type may replace `*`, and other letters of `cruds` may replace `rs`.',
          'launch/patient': 'The record’s id comes with the token.',
          'openid fhirUser': 'An `id_token` comes with the token.',
          offline_access: 'A refresh token comes with the token.',
        },
      },
    },
  },
});

/**
 * Returns a route's security requirement.
 * @param scope the scope that an API key needs
 */
export function describeSecurity(
  credential: 'identity' | 'api_key' | 'none',
  scope: 'read' | 'write',
): readonly Part[] {
  switch (credential) {
    case 'identity':
      return [{ idToken: [] }];
    case 'api_key':
      return [
        { apiKey: [] },
        { apiKeyHeader: [] },
        { clientCredentials: [scope === 'read' ? 'system/*.rs' : 'system/*.cruds'] },
      ];
    case 'none':
      return [];
  }
}

/** The requirement for a route that accepts grants' access tokens, regardless of their scopes. */
export const BY_GRANT: Part = { patientGrant: [] };

/** Returns references to response headers, by name. */
export function headers(...names: readonly string[]): Part {
  return referTo(['Service-Request-Id', 'RateLimit', 'RateLimit-Policy', ...names]);
}

function referTo(names: readonly string[]): Part {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

/** The header of responses to requests that aren't counted. */
export const REQUEST_ID: Part = referTo(['Service-Request-Id']);

const OF_STATUS: Readonly<Record<number, readonly string[]>> = {
  401: ['WWW-Authenticate'],
  405: ['Allow'],
  409: ['Retry-After'],
  429: ['Retry-After'],
  503: ['Retry-After'],
};

const INTERFACES = {
  Json: { type: 'application/json', schema: 'Error' },
  Fhir: { type: 'application/fhir+json', schema: 'OperationOutcome' },
} as const;

/** An interface with its own error format. */
export type ErrorsOf = keyof typeof INTERFACES;

const nameErrors = (of: ErrorsOf, status: number) => `${of}${status}`;

/** Error responses in both formats, as components. */
export const ERROR_RESPONSES: Part = Object.fromEntries(
  (['Json', 'Fhir'] as const).flatMap((of) =>
    ERRORS.filter(({ status }) => of === 'Fhir' || status !== 410).map(
      ({ status, type, meaning, advice }) => [
        nameErrors(of, status),
        {
          description: `${of === 'Json' ? `\`${type}\`: ` : ''}${meaning} ${advice}`,
          headers: headers(...(OF_STATUS[status] ?? [])),
          content: {
            [INTERFACES[of].type]: { schema: { $ref: `#/components/schemas/${INTERFACES[of].schema}` } },
          },
        },
      ],
    ),
  ),
);

/**
 * 422 for a write that has author headers. If a person or organization named in them is refused, the response is an
 * OperationOutcome.
 */
export const AUTHORED_422: Part = {
  description:
    '`invalid`: some inputs are invalid; all are listed. An OperationOutcome if `X-Service-Acting-As`, `X-Service-Author-Ref` or `X-Service-On-Behalf-Of` names an unknown or inactive entry.',
  headers: headers(),
  content: {
    'application/json': { schema: { $ref: '#/components/schemas/Error' } },
    'application/fhir+json': { schema: { $ref: '#/components/schemas/OperationOutcome' } },
  },
};

/** Returns references to error responses, by status. */
export function errorResponses(of: ErrorsOf, statuses: readonly number[]): Part {
  return Object.fromEntries(
    statuses.map((status) => [status, { $ref: `#/components/responses/${nameErrors(of, status)}` }]),
  );
}
