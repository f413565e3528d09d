/**
 * Serves `/oauth/authorize` and `/oauth/consent`: an application asks, and a person decides (docs/spec/interface.md, section
 * 4.1; docs/spec/decisions.md, section 9; OAuth 2.1, section 4.1). A request that can be decided is stored under a handle,
 * which the page, the sign-in and the form pass on; every step checks the request again.
 */
import Router from '@koa/router';
import type { Context } from 'koa';
import { urlAgain } from '../../pages/onward.ts';
import { Cookie } from '../../signin/cookie.ts';
import { begin, show } from './begin.ts';
import { decide } from './decision.ts';
import { answerStop } from './fault-page.ts';
import { type AuthorizeDeps, readQueryParameter, sayIn } from './opened.ts';

/** Returns the routes. */
export function authorizeRouter(parts: Omit<AuthorizeDeps, 'root' | 'cookie'>): Router {
  const { baseUrl } = parts;
  const root = new URL(baseUrl).pathname.replace(/\/+$/, '');
  const deps = { ...parts, root, cookie: new Cookie('annal_request', baseUrl) };
  const router = new Router();
  router.get('/oauth/authorize', (ctx) => guarded(deps, ctx, begin));
  router.post('/oauth/authorize', (ctx) => guarded(deps, ctx, begin));
  router.get('/oauth/consent', (ctx) =>
    guarded(deps, ctx, () => show(deps, ctx, readQueryParameter(ctx, 'request') ?? '')),
  );
  router.post('/oauth/consent', (ctx) => guarded(deps, ctx, decide));
  return router;
}

/** Shows a page instead of JSON if the service itself fails. */
async function guarded(
  deps: AuthorizeDeps,
  ctx: Context,
  run: (deps: AuthorizeDeps, ctx: Context) => Promise<void>,
): Promise<void> {
  try {
    await run(deps, ctx);
  } catch (error) {
    const refusal = deps.refusalOf(error);
    if (refusal !== undefined && refusal.kind !== 'unavailable' && refusal.kind !== 'internal') throw error;
    deps.log.error({ err: error, request_id: ctx.state.requestId }, 'an authorization request failed');
    const isAway = refusal !== undefined && refusal.kind === 'unavailable';
    if (isAway) ctx.set('Retry-After', '1');
    const next = ctx.method === 'POST' ? undefined : urlAgain(ctx, deps.root);
    answerStop(ctx, sayIn(readQueryParameter(ctx, 'lang')), {
      status: isAway ? 503 : 500,
      text: 'error.service',
      next,
      root: deps.root,
    });
  }
}
