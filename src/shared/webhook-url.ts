/** Checks the URLs of endpoints (docs/spec/interface.md, section 2.6; docs/spec/decisions.md, section 6). */
import { isIP } from 'node:net';
import type { Environment } from '#src/shared/access/caller.ts';
import { isPublicAddress } from '#src/shared/public-address.ts';

/** The installation's mode. In production mode, even the sandbox connects only to public addresses. */
export type Mode = 'development' | 'production';

/** The maximum length of an endpoint's URL, in characters. */
export const MOST_URL = 2_000;

const LOCAL = /^(?:localhost|.+\.localhost)$/;

/** Returns whether deliveries may go only to public addresses. */
export function isGuarded(environment: Environment, mode: Mode): boolean {
  return environment === 'production' || mode === 'production';
}

/**
 * Returns what is wrong with an endpoint's URL, as the rest of a sentence; undefined if the URL is valid. The address to which
 * its host resolves is checked at each attempt.
 */
export function faultOfUrl(text: string, environment: Environment, mode: Mode): string | undefined {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    return 'must be an absolute URL';
  }
  const guarded = isGuarded(environment, mode);
  const host = url.hostname.replace(/^\[|\]$/g, '').replace(/\.$/, '');
  const loopback = LOCAL.test(host) || host === '127.0.0.1' || host === '::1';
  if (url.protocol !== 'https:' && !(url.protocol === 'http:' && loopback && !guarded))
    return guarded ? 'must begin with https://' : 'must begin with https://, or with http://localhost';
  if (url.username !== '' || url.password !== '') return 'must not contain a user or password';
  if (url.href.length > MOST_URL)
    return `must have at most ${MOST_URL} characters; percent-encoded, it has ${url.href.length}`;
  if (url.hash !== '') return 'must not have a fragment';
  if (url.port === '0') return 'must not have the port 0';
  if (guarded && (LOCAL.test(host) || (isIP(host) !== 0 && !isPublicAddress(host))))
    return 'must resolve to a public internet address';
  return undefined;
}
