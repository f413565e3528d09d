/** Lists the URLs that only browsers request, on behalf of the person in front of them. */

/** The roots of these URLs, including everything below them. Routes are matched in upper and lower case. */
export const PAGE_ROOTS = [
  '/app(?!/api(?:/|$))',
  '/signin',
  '/invitations',
  '/connections',
  '/oauth/authorize',
  '/oauth/consent',
  '/oauth/logout',
  '/dev/authorize',
] as const;

const PAGE = new RegExp(`^(?:/dev/?|(?:${PAGE_ROOTS.join('|')})(?:/.*)?)$`, 'is');

/**
 * Returns whether a path belongs to a page that recognizes its visitor by a cookie, or to a sign-in step. Scripts from other
 * origins have nothing to read there.
 */
export function isPage(path: string): boolean {
  return PAGE.test(path);
}
