/** Redirects browsers from one page to another. */
import type { Context } from 'koa';

/**
 * Redirects with 303, so that after a form the browser uses GET and doesn't send the form to the next server (RFC 9700,
 * section 4.12). The next server doesn't learn which page the redirect came from.
 * @param url absolute, in ASCII
 */
export function redirectTo(ctx: Context, url: string): void {
  ctx.status = 303;
  ctx.set({ Location: url, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
  ctx.body = '';
}
