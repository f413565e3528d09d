/** Reads parameters that several grant types share, and builds token responses. */
import { z } from 'zod';
import { ownResource } from '#src/oauth/authorization/request.ts';
import { OAuthError } from '#src/oauth/error.ts';
import { parseScopes, type Scope } from '#src/oauth/scopes.ts';
import type { Issued } from '#src/oauth/tokens/issued.ts';
import type { ClientRequest } from './endpoint.ts';

/**
 * Parses scopes.
 * @throws OAuthError invalid_scope, including for text that contains no scope
 */
export function requireScopes(text: string): readonly Scope[] {
  const parsed = parseScopes(text);
  if ('fault' in parsed) throw new OAuthError('invalid_scope', parsed.fault);
  if (parsed.scopes.length === 0) throw new OAuthError('invalid_scope', 'scope must name at least one scope');
  return parsed.scopes;
}

const MAX_RESOURCES = 10;

/** The `resource` parameter. */
export const resource = z.array(z.url()).max(MAX_RESOURCES).optional().describe('RFC 8707.');

/** The form for endpoints that receive a token to act on. */
export const tokenForm = z.object({
  token: z.string().meta({ example: 'at_Yk3q0Zt7bV1sXc9wLm2NpRd5fH6jL8pS0uV2yA3eGk1' }),
  token_type_hint: z.string().optional().describe('Not needed.'),
});

/** Returns the resources in a request; undefined if one of them isn't on this service (RFC 8707). */
export function requireResources({
  service: { baseUrl },
  all,
}: ClientRequest<'resource'>): readonly string[] | undefined {
  const values = all('resource');
  const own = values.slice(0, MAX_RESOURCES).flatMap((value) => ownResource(value, baseUrl) ?? []);
  return own.length === values.length ? [...new Set(own)] : undefined;
}

/** Returns the error for a `resource` that isn't on this service. */
export function badResource(baseUrl: string): OAuthError {
  return new OAuthError(
    'invalid_target',
    `resource must be ${baseUrl}/fhir/R4 or another base URL of this service`,
  );
}

/** Returns the response with a grant's tokens (docs/spec/interface.md, section 4.1). */
export async function tokenAnswer(
  { client, service }: Pick<ClientRequest, 'client' | 'service'>,
  issued: Issued,
): Promise<object> {
  const idToken = await service.oauth.tokens.idToken(client.clientId, issued);
  return {
    access_token: issued.accessToken,
    token_type: 'Bearer',
    expires_in: issued.expiresIn,
    scope: issued.scope,
    ...(issued.refreshToken === undefined ? {} : { refresh_token: issued.refreshToken }),
    patient: issued.patient,
    grant_id: issued.grantId,
    ...(idToken === undefined ? {} : { id_token: idToken }),
  };
}
