/**
 * Defines the headers that are part of every response: they tell clients not to guess its type, frame it, store it or pass its
 * URL on (https://owasp.org/www-project-secure-headers/). Pages have additional headers (`security-headers.ts`).
 */
const ALWAYS = [
  ['X-Content-Type-Options', 'nosniff'],
  // Responses contain health data, so caches must not write them to disk (RFC 9111, section 5.2.2.5). A client that stores a
  // resource itself may still send If-None-Match.
  ['Cache-Control', 'no-store'],
  ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
  ['X-Frame-Options', 'DENY'],
  ['Referrer-Policy', 'no-referrer'],
] as const;

/** One year, so that clients that have used https once don't fall back to http. */
const STRICT_TRANSPORT = ['Strict-Transport-Security', 'max-age=31536000'] as const;

/**
 * Returns alternating header names and values.
 * @param baseUrl the URL that clients use; https is required only if this is an https URL
 */
export function baseHeaders(baseUrl: string): readonly string[] {
  return (baseUrl.startsWith('https:') ? [...ALWAYS, STRICT_TRANSPORT] : ALWAYS).flat();
}
