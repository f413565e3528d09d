/**
 * Headers that every answer begins with: no client guesses its type, frames it, stores it or passes its URL on
 * (https://owasp.org/www-project-secure-headers/). Pages say more (`security-headers.ts`).
 */
import type { Context } from 'koa';

const ALWAYS = [
  ['X-Content-Type-Options', 'nosniff'],
  // Answers hold health data: no cache may write them to a disk (RFC 9111, section 5.2.2.5). A client that keeps a resource
  // itself may still ask with If-None-Match.
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'no-referrer'],
] as const;

/** A year: who reached the service by https once is not talked into http. */
const STRICT_TRANSPORT = ['Strict-Transport-Security', 'max-age=31536000'] as const;

/** No page of ours has a use for any of these. */
const NO_FEATURES = 'camera=(), geolocation=(), microphone=(), payment=(), usb=()';

/** Their names and values in turn. @param baseUrl that clients reach the service by: only behind https may it insist on that. */
export function baseHeaders(baseUrl: string): readonly string[] {
  return (baseUrl.startsWith('https:') ? [...ALWAYS, STRICT_TRANSPORT] : ALWAYS).flat();
}

/** Takes from a page what browsers would let it ask for. */
export function withoutFeatures(ctx: Context): void {
  if (ctx.response.type === 'text/html') ctx.set('Permissions-Policy', NO_FEATURES);
}
