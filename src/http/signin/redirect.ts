/** Redirects of the pages. */
import type { Context } from 'koa';

/**
 * Redirects with 303, so that a form's answer is fetched with GET and no form is sent on (RFC 9700, section 4.12). The
 * next server doesn't learn from which page.
 * @param url absolute, in ASCII
 */
export function redirectTo(ctx: Context, url: string): void {
  ctx.status = 303;
  ctx.set({ Location: url, 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
  ctx.body = '';
}
