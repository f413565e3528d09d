/** Hosts that a Content Security Policy can name (https://www.w3.org/TR/CSP3/#framework-directive-source-list). */

/**
 * Returns whether a policy can name a host as it is: the host must consist only of letters, digits, `-`, `_` and `.`. URLs
 * also accept hosts with `;`, `,`, `*` or quotes, which would end a directive or match more than one host.
 * @param host as returned by `URL.hostname`
 */
export function isSourceHost(host: string): boolean {
  return /^[a-z0-9_.-]+$/i.test(host);
}
