/** Lists the URLs that only browsers request, on behalf of the person using them. */

/** The roots of these URLs; everything below them is included. Routes are matched in either case. */
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
 * Returns whether a path belongs to a sign-in step or to a page that recognizes its visitor by a cookie. There is nothing
 * there for scripts from other origins to read.
 */
export function isPage(path: string): boolean {
  return PAGE.test(path);
}
