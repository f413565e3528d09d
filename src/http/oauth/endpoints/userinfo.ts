/** `/oauth/userinfo`: who the person behind an access token is (OpenID Connect Core 1.0, section 5.3; RFC 6750). */
import type { Context } from 'koa';
import { OAuthError } from '#src/oauth/error.ts';
import { writeFhirUser } from '#src/oauth/tokens/id-token.ts';
import { readCredential } from '../../credentials.ts';
import { answerJson, type EndpointDeps } from './endpoint.ts';

/** Answers a request with the same claims as the ID token, under a token with `openid`. */
export function answerUserinfo(deps: EndpointDeps, ctx: Context): Promise<void> {
  return answerJson(deps, ctx, () => claimsFor(deps, ctx));
}

async function claimsFor(deps: EndpointDeps, ctx: Context): Promise<object> {
  deps.freshness.require(['projects', 'consents']);
  const token = readCredential(ctx.req, ctx.querystring, 'Authorization: Bearer <access token>');
  const found = await deps.tokens.introspectToken(token);
  if (found === undefined || found.kind !== 'access') {
    if (await deps.worksElsewhere(token)) throw lacksOpenid();
    throw refusal(
      'invalid_token',
      401,
      'the access token is unknown, expired or revoked, or its grant has ended',
    );
  }
  const { grant, scope } = found;
  const scopes = scope.split(' ');
  if (grant === undefined || !scopes.includes('openid')) throw lacksOpenid();
  const names = scopes.includes('fhirUser') && grant.own;
  return { sub: grant.subject, ...(names ? { fhirUser: writeFhirUser(deps.baseUrl, grant.patient) } : {}) };
}

const lacksOpenid = (): OAuthError =>
  refusal(
    'insufficient_scope',
    403,
    'this endpoint requires the access token of a grant with the scope openid',
    ', scope="openid"',
  );

/** Returns an error with its challenge (RFC 6750, section 3). */
function refusal(
  code: 'invalid_token' | 'insufficient_scope',
  status: number,
  description: string,
  more = '',
): OAuthError {
  const challenge = `Bearer realm="annal", error="${code}", error_description="${description}"${more}`;
  return new OAuthError(code, description, { status, headers: { 'WWW-Authenticate': challenge } });
}
