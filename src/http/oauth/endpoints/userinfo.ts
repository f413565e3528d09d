/**
 * Serves `/oauth/userinfo`, which returns who the person behind an access token is (OpenID Connect Core 1.0, section 5.3; RFC
 * 6750).
 */
import type { Context } from 'koa';
import { z } from 'zod';
import { OAuthError } from '#src/oauth/error.ts';
import { writeFhirUser } from '#src/oauth/tokens/id-token.ts';
import { type OpenService, openRoute } from '../../api/open-route.ts';
import { readCredential } from '../../credentials.ts';
import { describeErrors } from '../errors.ts';
import { answerUnstored } from './endpoint.ts';

const claims = z.object({
  sub: z.string().describe('As in the ID token.'),
  fhirUser: z.url().optional().describe('As in the ID token.'),
});

/** The routes. For a token with `openid`, they return the same claims as the ID token. */
export const USERINFO_ROUTES = (['GET', 'POST'] as const).map((method) =>
  openRoute({
    method,
    path: '/oauth/userinfo',
    operationId: method === 'GET' ? 'getUserinfo' : 'postUserinfo',
    summary: 'Read who the person behind an access token is',
    description: 'OpenID Connect Core 1.0, section 5.3. Requires a token from a grant with `openid`.',
    tag: 'OAuth',
    takesGrantToken: true,
    models: ['projects', 'consents'],
    errorForm: 'oauth',
    answers: {
      200: { description: 'The person', schema: claims },
      ...describeErrors({
        400: '`invalid_request`',
        401: '`invalid_token`: no token, or one that doesn’t work',
        403: '`insufficient_scope`: a token without `openid`, or another credential',
        405: 'Another method',
        429: 'Too many requests; see `Retry-After`',
        500: '`server_error`',
        503: '`temporarily_unavailable`; see `Retry-After`',
      }),
    },
    run: async ({ service, ctx }) => answerUnstored(await readClaims(service, ctx)),
  }),
);

async function readClaims(service: OpenService, ctx: Context): Promise<z.output<typeof claims>> {
  const token = readCredential(ctx.req, ctx.querystring, 'Authorization: Bearer <access token>');
  const found = await service.oauth.tokens.introspectToken(token);
  if (found === undefined || found.kind !== 'access') {
    if (await service.worksElsewhere(token)) throw lacksOpenid();
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
  return {
    sub: grant.subject,
    ...(names ? { fhirUser: writeFhirUser(service.baseUrl, grant.patient) } : {}),
  };
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
