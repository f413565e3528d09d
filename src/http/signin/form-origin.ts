/**
 * Refuses forms that don't come from one of our own pages: browsers send the session cookie with them, so they could act in
 * the person's name.
 */
import { timingSafeEqual } from 'node:crypto';
import type { Context } from 'koa';
import type { Session } from '#src/shared/access/session.ts';
import { isLoopback } from '#src/shared/loopback.ts';
import { Refusal } from '#src/shared/refusal.ts';

/** Name of the hidden field that contains the session's form token. */
export const FORM_TOKEN = 'form_token';

/**
 * Checks that a form comes from a page of the same origin, using `Sec-Fetch-Site` if present, otherwise `Origin`
 * (https://www.w3.org/TR/fetch-metadata/, RFC 6454). The pages have `Referrer-Policy: same-origin`, because under
 * `no-referrer` browsers send `Origin: null`. Over http to another host, they don't send `Sec-Fetch-Site`.
 * @param fault the error message
 * @throws Refusal forbidden (403)
 */
export function requireOwnOrigin(
  ctx: Context,
  baseUrl: string,
  fault = 'the form does not come from a page of this service; open the page again and send it from there',
): void {
  const site = ctx.get('Sec-Fetch-Site');
  const origin = ctx.get('Origin');
  // This machine's own names also lead to this service, regardless of BASE_URL.
  const own = [new URL(baseUrl).origin, ...(isLoopback(ctx.URL.hostname) ? [ctx.URL.origin] : [])];
  if (site === '' ? own.includes(origin) : site === 'same-origin') return;
  throw new Refusal('forbidden', { code: 'forbidden', diagnostics: fault });
}

/**
 * Checks the form token. A page of the same origin that can't read this session's pages doesn't know the token.
 * @throws Refusal forbidden (403)
 */
export function requireFormToken(form: URLSearchParams, session: Session): void {
  const sent = Buffer.from(form.get(FORM_TOKEN) ?? '');
  const expected = Buffer.from(session.formToken);
  if (sent.length === expected.length && timingSafeEqual(sent, expected)) return;
  throw new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: 'the form belongs to another session; open the page again and send it from there',
  });
}
