/** Lists the endpoints for clients (docs/spec/interface.md, section 4.1). */
import { z } from 'zod';
import { KEY_SET_MAX_AGE_S } from '#src/oauth/signing-keys.ts';
import { answerJson, openRoute } from '../../api/open-route.ts';
import { describeErrors } from '../errors.ts';
import { BACKCHANNEL_ROUTE } from './backchannel.ts';
import { clientRoute, required } from './endpoint.ts';
import { INTROSPECTION_ROUTE } from './introspect.ts';
import { tokenForm } from './parts.ts';
import { TOKEN_ROUTE } from './token.ts';
import { USERINFO_ROUTES } from './userinfo.ts';

const JWK_SET = 'application/jwk-set+json';

/** The routes. */
export const CLIENT_ROUTES = [
  TOKEN_ROUTE,
  clientRoute({
    path: '/oauth/revoke',
    operationId: 'revokeToken',
    summary: 'Revoke a token',
    description:
      'RFC 7009. Revoking a refresh token ends all tokens of its chain; revoking an access token ends only that token. Revoking an unknown token or another client’s token changes nothing.',
    form: tokenForm,
    answer: { description: 'Done', schema: z.object({}) },
    async work(request) {
      const token = required(request, 'token');
      await request.service.oauth.tokens.revokeToken(token, request.client.applicationId);
      return {};
    },
  }),
  INTROSPECTION_ROUTE,
  BACKCHANNEL_ROUTE,
  ...USERINFO_ROUTES,
  openRoute({
    method: 'GET',
    path: '/oauth/jwks',
    operationId: 'getKeySet',
    summary: 'The keys that verify ID tokens',
    description: 'Fetch it again if a token names a key that you don’t have: keys are rotated.',
    tag: 'OAuth',
    errorForm: 'oauth',
    answers: {
      200: {
        description: 'RFC 7517',
        content: { [JWK_SET]: z.looseObject({ keys: z.array(z.looseObject({})) }) },
      },
      ...describeErrors({
        405: 'Another method',
        429: 'Too many requests; see `Retry-After`',
        500: '`server_error`',
        503: '`temporarily_unavailable`; see `Retry-After`',
      }),
    },
    async run({ service }) {
      const headers = { 'Cache-Control': `public, max-age=${KEY_SET_MAX_AGE_S}` };
      return answerJson(await service.oauth.tokens.publicKeys(), { type: JWK_SET, headers });
    },
  }),
];
