/** `POST /oauth/introspect` (RFC 7662; SMART App Launch 2.2, "Token Introspection"; docs/spec/decisions.md, section 9). */

import type { Client } from '#src/oauth/clients.ts';
import { writeFhirUser } from '#src/oauth/tokens/id-token.ts';
import type { ActiveToken } from '#src/oauth/tokens/introspect.ts';
import { type ClientRequest, type EndpointDeps, required } from './endpoint.ts';

/** Answers an introspection request. @throws OAuthError */
export async function answerIntrospection(deps: EndpointDeps, request: ClientRequest): Promise<object> {
  const { client } = request;
  const found = await deps.tokens.introspectToken(required(request, 'token'));
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
    iss: deps.baseUrl,
    aud: resources.length === 0 ? [deps.baseUrl] : resources,
    ...(grant === undefined
      ? { sub: found.clientId }
      : { sub: grant.subject, patient: grant.patient, grant_id: grant.grantId }),
    ...(grant?.own === true && scopes.includes('fhirUser')
      ? { fhirUser: writeFhirUser(deps.baseUrl, grant.patient) }
      : {}),
  };
}

/** Tells whether a client may ask about a token: its own, or a confidential one's of the same project. */
function mayAsk(client: Client, token: ActiveToken): boolean {
  if (client.applicationId === token.applicationId) return true;
  const { project, environment, kind } = client;
  return kind === 'confidential' && project === token.project && environment === token.environment;
}
