/** The URLs that only browsers ask for, on behalf of the person in front of them. */

/** Every URL that is one of these or below one. Routes are found in any letter case. */
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
 * Tells whether a path is of a page that knows its visitor by a cookie, or a step of signing in. No script of another
 * origin has anything to read there.
 */
export function isPage(path: string): boolean {
  return PAGE.test(path);
}
