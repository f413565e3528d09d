/** Refuses requests from other machines to the development issuer, which asks for no password. */
import type { Context } from 'koa';
import { Refusal } from '#src/shared/refusal.ts';

/** Headers that proxies add, besides headers that begin with `x-forwarded-`. */
const OF_PROXIES = new Set([
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
]);

/**
 * Makes sure that the request didn't come through a proxy: a proxy on this machine would let outside requests in.
 * @throws Refusal forbidden (403)
 */
export function requireDirect(ctx: Context): void {
  const found = Object.keys(ctx.headers).find(
    (name) => OF_PROXIES.has(name) || name.startsWith('x-forwarded-'),
  );
  // Clients on this machine use HTTP/1.1; proxies that add no headers mostly forward requests as HTTP/1.0.
  const sign =
    found !== undefined ? `the header ${found}` : ctx.req.httpVersion === '1.1' ? undefined : 'its HTTP/1.0';
  if (sign === undefined) return;
  throw new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: `the development issuer answers requests from this machine only, and ${sign} shows that a proxy forwarded this one; set OIDC_ISSUERS, or DEV_ISSUER=allow if anyone who can reach the service may sign in as any person`,
  });
}
