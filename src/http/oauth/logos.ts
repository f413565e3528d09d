/**
 * `GET /oauth/logos/{application}/{sha256}`: the logo of an application, for the consent page. The page loads nothing from
 * the application's own server, which would learn who looks at it.
 */
import Router from '@koa/router';
import { Refusal } from '#src/shared/refusal.ts';
import type { Services } from '../ports/services.ts';

/** Returns the route. */
export function logosRouter(logos: Services['logos']): Router {
  const router = new Router();
  router.get('/oauth/logos/:application/:sha256', async (ctx) => {
    const { application = '', sha256 = '' } = ctx.params;
    if (!/^app_[\w-]{1,60}$/.test(application) || !/^[0-9a-f]{64}$/.test(sha256)) {
      throw new Refusal('malformed', {
        code: 'value',
        diagnostics: 'the path of a logo is /oauth/logos/<application id>/<SHA-256 in hex>',
      });
    }
    const logo = await logos.find(application, sha256);
    if (logo === undefined) return;
    ctx.set({
      'Content-Type': logo.contentType,
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy': "default-src 'none'; sandbox",
      'Cross-Origin-Resource-Policy': 'same-origin',
      // The hash in the path makes it another resource when the logo changes; a deleted one is soon forgotten.
      'Cache-Control': 'public, max-age=3600, immutable',
    });
    ctx.body = logo.content;
  });
  return router;
}
