/** Refuses requests from other machines to the development issuer, because it requires no password. */
import type { Context } from 'koa';
import { Refusal } from '#src/shared/refusal.ts';

/** Headers that proxies add, in addition to headers that begin with `x-forwarded-`. */
const OF_PROXIES = new Set([
  'forwarded',
  'via',
  'x-real-ip',
  'x-client-ip',
  'true-client-ip',
  'cf-connecting-ip',
]);

/**
 * Checks that the request didn't come through a proxy, because a proxy on this machine would let outside requests in.
 * @throws Refusal forbidden (403)
 */
export function requireDirect(ctx: Context): void {
  const found = Object.keys(ctx.headers).find(
    (name) => OF_PROXIES.has(name) || name.startsWith('x-forwarded-'),
  );
  // Clients on this machine use HTTP/1.1. Proxies that add no headers usually forward requests as HTTP/1.0.
  const sign =
    found !== undefined ? `the header ${found}` : ctx.req.httpVersion === '1.1' ? undefined : 'its HTTP/1.0';
  if (sign === undefined) return;
  throw new Refusal('forbidden', {
    code: 'forbidden',
    diagnostics: `the development issuer answers requests from this machine only, and ${sign} shows that a proxy forwarded this one; set OIDC_ISSUERS, or DEV_ISSUER=allow if anyone who can reach the service may sign in as any person`,
  });
}
