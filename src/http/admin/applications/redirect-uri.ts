/**
 * Validates the redirect URIs of OAuth applications. Later requests must match them character by character (RFC 9700,
 * section 2.1; RFC 8252, sections 7.1 and 7.3).
 */
import { isSourceHost } from '../../../shared/source-host.ts';

/** The maximum length of a URI, in characters. */
const MAX_LENGTH = 2_000;
const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const SCHEME = /^([a-z][a-z0-9+.-]*):/i;

/**
 * Returns what is wrong with a redirect URI, phrased to end a sentence; undefined if it is valid. `https` URLs and `http` URLs
 * on this machine are valid and, for public applications, so are private schemes with a dot (`org.example.app:/back`).
 */
export function redirectFault(uri: string, kind: 'public' | 'confidential'): string | undefined {
  if (uri.length > MAX_LENGTH) return `must have at most ${MAX_LENGTH} characters`;
  const scheme = SCHEME.exec(uri)?.[1]?.toLowerCase();
  if (scheme === undefined) return 'must be an absolute URI';
  if (!/^[\x21-\x7e]+$/.test(uri)) return 'must consist of visible ASCII characters';
  if (uri.includes('#')) return 'must have no fragment';
  if (uri.includes('*')) return 'must have no wildcard';
  if (uri.includes('\\')) return 'must have no backslash';
  if (!URL.canParse(uri)) return 'must be an absolute URI';
  const { username, password, hostname } = new URL(uri);
  if (username !== '' || password !== '') return 'must have no user information';
  if (scheme === 'https' || scheme === 'http') {
    if (!/^https?:\/\/[^/?]/i.test(uri)) return 'must have a host';
    // The consent page's Content-Security-Policy names the host.
    if (!isSourceHost(hostname) && !/^\[[0-9a-f:.]+\]$/.test(hostname))
      return 'must have a host of letters, digits, hyphens, underscores and dots, or an IP address';
    if (scheme === 'https' || LOOPBACK.has(hostname)) return undefined;
    return 'must be https; http is allowed only for localhost, 127.0.0.1 and [::1]';
  }
  if (!scheme.includes('.')) {
    return 'must be https, http on localhost, or a private-use scheme with a dot, for example org.example.app:/back';
  }
  return kind === 'public'
    ? undefined
    : 'must be https; private-use schemes are for public applications only';
}
