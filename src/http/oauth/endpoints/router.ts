/**
 * `/oauth/token`, `/oauth/revoke`, `/oauth/introspect`, `/oauth/bc-authorize`, `/oauth/userinfo` and `/oauth/jwks`: the
 * endpoints for clients (docs/spec/interface.md, section 4.1).
 */
import Router from '@koa/router';
import { KEY_SET_MAX_AGE_S } from '#src/oauth/signing-keys.ts';
import { answerBackchannelRequest } from './backchannel.ts';
import { clientEndpoint, type EndpointDeps, required } from './endpoint.ts';
import { answerIntrospection } from './introspect.ts';
import { answerTokenRequest } from './token.ts';
import { answerUserinfo } from './userinfo.ts';

/** Returns the routes. */
export function clientEndpointsRouter(deps: EndpointDeps): Router {
  const router = new Router();
  router.post(
    '/oauth/token',
    clientEndpoint(deps, (request) => answerTokenRequest(deps, request)),
  );
  router.post(
    '/oauth/revoke',
    clientEndpoint(deps, async (request) => {
      await deps.tokens.revokeToken(required(request, 'token'), request.client.applicationId);
      return {};
    }),
  );
  router.post(
    '/oauth/introspect',
    clientEndpoint(deps, (request) => answerIntrospection(deps, request)),
  );
  router.post(
    '/oauth/bc-authorize',
    clientEndpoint(deps, (request) => answerBackchannelRequest(deps, request)),
  );
  router.get('/oauth/userinfo', (ctx) => answerUserinfo(deps, ctx));
  router.post('/oauth/userinfo', (ctx) => answerUserinfo(deps, ctx));
  router.get('/oauth/jwks', async (ctx) => {
    const keys = JSON.stringify(await deps.tokens.publicKeys());
    ctx.set('Cache-Control', `public, max-age=${KEY_SET_MAX_AGE_S}`);
    ctx.type = 'application/jwk-set+json';
    ctx.body = keys;
  });
  return router;
}
