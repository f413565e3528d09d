/** The discovery documents and the keys (docs/spec/interface.md, section 4.1). */
import { ERRORS, json, TAG, TEXTS, URL } from './oauth-parts.ts';
import type { Part } from './schemas.ts';

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

/** The paths. */
export const DISCOVERY_PATHS: Readonly<Record<string, Part>> = {
  '/oauth/jwks': {
    get: {
      operationId: 'getKeySet',
      summary: 'The keys that verify ID tokens',
      description: 'Fetch it again if a token names a key that you don’t have: keys are rotated.',
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
