/** Refuses forms from other sites, because these could sign a developer in or read the response. */
import type { Context } from 'koa';
import { isLoopback } from '#src/shared/loopback.ts';
import { Refusal } from '#src/shared/refusal.ts';

/**
 * Checks that the page is requested under one of this service's names. Otherwise, if a foreign name were made to resolve to
 * this service (DNS rebinding), a foreign page would have the same origin.
 * @throws Refusal forbidden (403)
 */
export function requireOwnHost(ctx: Context, baseUrl: string): void {
  const { host, hostname } = ctx.URL;
  if (isLoopback(hostname) || host === new URL(baseUrl).host) return;
  throw forbidden('open this page at BASE_URL or on this machine');
}

/**
 * Checks that a form comes from a page of the same origin (https://www.w3.org/TR/fetch-metadata/). With `Referrer-Policy:
 * no-referrer`, browsers send `Origin: null`. Requests with neither header don't come from browsers.
 * @throws Refusal forbidden (403)
 */
export function requireOwnForm(ctx: Context, baseUrl: string): void {
  const site = ctx.get('Sec-Fetch-Site');
  const origin = ctx.get('Origin');
  // Behind a proxy that terminates TLS, the page's origin is the origin of BASE_URL.
  const own = ['', ctx.URL.origin, new URL(baseUrl).origin];
  if (site === '' ? own.includes(origin) : site === 'same-origin') return;
  throw forbidden('submit this form from the sign-in page');
}

function forbidden(diagnostics: string): Refusal {
  return new Refusal('forbidden', { code: 'forbidden', diagnostics });
}
