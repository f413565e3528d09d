/** Checks which URLs may be client ids (draft-ietf-oauth-client-id-metadata-document, section 3). Pure. */
import { isSourceHost } from '#src/shared/source-host.ts';

/** The setting CLIENT_METADATA: no guests, guests from every host, or only from the listed hosts, in lower case. */
export type GuestRule = 'off' | 'allow' | readonly string[];

/** How an installation handles guests. */
export interface GuestPolicy {
  readonly rule: GuestRule;
  /** True if documents may also be on this machine, at `http://localhost`. */
  readonly takesLocal: boolean;
}

/** Returns whether a document is on this machine, which is only allowed in development. */
export function isLocal({ protocol, hostname }: Pick<URL, 'protocol' | 'hostname'>): boolean {
  return protocol === 'http:' && hostname === 'localhost';
}

/**
 * Returns what is wrong with a client id, as the rest of a sentence that begins with `client_id`; undefined if this
 * installation accepts the id as a document's URL.
 */
export function faultOfClientUrl(text: string, { rule, takesLocal }: GuestPolicy): string | undefined {
  if (rule === 'off') return "is a URL, but this service doesn't accept clients with metadata documents";
  if (!URL.canParse(text)) return 'is not a valid URL';
  const url = new URL(text);
  if (url.protocol !== 'https:' && !(takesLocal && isLocal(url)))
    return takesLocal ? 'must begin with https://, or with http://localhost' : 'must begin with https://';
  if (url.username !== '' || url.password !== '') return 'must not contain a user or password';
  if (url.hash !== '' || text.includes('#')) return 'must not have a fragment';
  if (!isSourceHost(url.hostname) || url.hostname.endsWith('.'))
    return 'must have a host name of letters, digits, hyphens and dots';
  if (url.pathname === '/') return 'must have a path, such as https://app.example.org/client.json';
  // A URL that can be written in two ways would be two clients. This check also refuses `.` and `..`, capitals in the host,
  // and default ports.
  if (url.href !== text) return 'must be written as browsers write it, without . or .. in its path';
  if (rule !== 'allow' && !rule.includes(url.hostname))
    return "is a URL on a host whose clients this service doesn't accept";
  return undefined;
}
