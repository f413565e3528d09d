/** Refuses forms of other sites: they could sign a developer in, or read the answer. */
import type { Context } from 'koa';
import { isLoopback } from '#src/shared/loopback.ts';
import { Refusal } from '#src/shared/refusal.ts';

/**
 * Makes sure that the page is asked for by a name of this service: a foreign name that was made to lead here (DNS
 * rebinding) would make a foreign page one of the same origin.
 * @throws Refusal forbidden (403)
 */
export function requireOwnHost(ctx: Context, baseUrl: string): void {
  const { host, hostname } = ctx.URL;
  if (isLoopback(hostname) || host === new URL(baseUrl).host) return;
  throw forbidden('open this page at BASE_URL or on this machine');
}

/**
 * Checks that a form comes from a page of the same origin (https://www.w3.org/TR/fetch-metadata/). Under
 * `Referrer-Policy: no-referrer` browsers send `Origin: null`; requests without either header don't come from browsers.
 * @throws Refusal forbidden (403)
 */
export function requireOwnForm(ctx: Context, baseUrl: string): void {
  const site = ctx.get('Sec-Fetch-Site');
  const origin = ctx.get('Origin');
  // Behind a proxy that ends TLS, the page's origin is BASE_URL's.
  const own = ['', ctx.URL.origin, new URL(baseUrl).origin];
  if (site === '' ? own.includes(origin) : site === 'same-origin') return;
  throw forbidden('submit this form from the sign-in page');
}

function forbidden(diagnostics: string): Refusal {
  return new Refusal('forbidden', { code: 'forbidden', diagnostics });
}
