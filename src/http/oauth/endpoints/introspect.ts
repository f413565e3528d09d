/** `POST /oauth/introspect` (RFC 7662; SMART App Launch 2.2, "Token Introspection"; docs/spec/decisions.md, section 9). */
import { z } from 'zod';
import type { Client } from '#src/oauth/clients.ts';
import { writeFhirUser } from '#src/oauth/tokens/id-token.ts';
import type { ActiveToken } from '#src/oauth/tokens/introspect.ts';
import { clientRoute, required } from './endpoint.ts';
import { tokenForm } from './parts.ts';

const url = z.url();
const text = z.string();

const introspection = z
  .object({
    active: z.boolean(),
    scope: text.optional(),
    client_id: text.optional(),
    token_type: z.literal('Bearer').optional(),
    exp: z.int().optional(),
    iat: z.int().optional(),
    iss: url.optional(),
    aud: z.array(url).optional(),
    sub: text.optional(),
    patient: text.optional(),
    grant_id: text.optional(),
    fhirUser: url.optional(),
  })
  .describe('RFC 7662, section 2.2.');

/** The route that describes what a token gives access to. */
export const INTROSPECTION_ROUTE = clientRoute({
  path: '/oauth/introspect',
  operationId: 'introspectToken',
  summary: 'Introspect a token',
  description:
    'RFC 7662. For the client that the token belongs to, and for confidential clients in the same project. For other clients, every token is inactive.',
  serversOnly: true,
  form: tokenForm,
  answer: { description: 'The state and rights of the token', schema: introspection },
  async work(request): Promise<z.output<typeof introspection>> {
    const { client, service } = request;
    const found = await service.oauth.tokens.introspectToken(required(request, 'token'));
    if (found === undefined || !mayAsk(client, found)) return { active: false };
    const { grant, scope, resources } = found;
    const scopes = scope.split(' ');
    return {
      active: true,
      scope,
      client_id: found.clientId,
      ...(found.kind === 'access' ? { token_type: 'Bearer' } : {}),
      exp: found.expiresAt,
      iat: found.issuedAt,
      iss: service.baseUrl,
      aud: resources.length === 0 ? [service.baseUrl] : [...resources],
      ...(grant === undefined
        ? { sub: found.clientId }
        : { sub: grant.subject, patient: grant.patient, grant_id: grant.grantId }),
      ...(grant?.own === true && scopes.includes('fhirUser')
        ? { fhirUser: writeFhirUser(service.baseUrl, grant.patient) }
        : {}),
    };
  },
});

/**
 * Returns whether a client may ask about a token: one of its own tokens or, if the client is confidential, any token in the
 * same project and environment.
 */
function mayAsk(client: Client, token: ActiveToken): boolean {
  if (client.applicationId === token.applicationId) return true;
  const { project, environment, kind } = client;
  return kind === 'confidential' && project === token.project && environment === token.environment;
}
