/**
 * Serves `GET /oauth/logos/{application}/{sha256}`: an application's logo, for the consent page. The page loads nothing from
 * the application's own server, because that server would learn who is looking at the page.
 */
import { z } from 'zod';
import { Refusal } from '#src/shared/refusal.ts';
import { nothingThere, openRoute } from '../api/open-route.ts';

const BYTES = z.string().meta({ format: 'binary' });

/** The routes. */
export const LOGO_ROUTES = [
  openRoute({
    method: 'GET',
    path: '/oauth/logos/{application}/{sha256}',
    operationId: 'getApplicationLogo',
    summary: 'The logo of an application, for the consent page',
    description: 'The file whose SHA-256 the path names.',
    tag: 'Applications',
    answers: {
      200: {
        description: 'The file',
        content: { 'image/png': BYTES, 'image/jpeg': BYTES, 'image/webp': BYTES },
      },
    },
    errors: [400, 404],
    async run({ service, params: { application, sha256 } }) {
      if (!/^app_[\w-]{1,60}$/.test(application) || !/^[0-9a-f]{64}$/.test(sha256)) {
        throw new Refusal('malformed', {
          code: 'value',
          diagnostics: 'the path of a logo is /oauth/logos/<application id>/<SHA-256 in hex>',
        });
      }
      const logo = await service.services.logos.find(application, sha256);
      if (logo === undefined) throw nothingThere('the application has no logo with this SHA-256');
      return {
        status: 200,
        headers: {
          'Content-Type': logo.contentType,
          'X-Content-Type-Options': 'nosniff',
          'Content-Security-Policy': "default-src 'none'; sandbox",
          'Cross-Origin-Resource-Policy': 'same-origin',
          // The path contains a hash, so a changed logo is a different resource, and a deleted logo soon expires from caches.
          'Cache-Control': 'public, max-age=3600, immutable',
        },
        body: logo.content,
      };
    },
  }),
];
