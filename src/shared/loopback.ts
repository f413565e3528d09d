/** Hosts that refer to this machine. */

/**
 * Returns whether a host is this machine: `localhost`, 127.0.0.0/8 or `::1` (RFC 6890; RFC 6761, section 6.3).
 * @param host a name or an address; IPv6 with or without brackets
 */
export function isLoopback(host: string): boolean {
  return /^(?:localhost|127\.\d{1,3}\.\d{1,3}\.\d{1,3}|::1|\[::1\])$/i.test(host);
}
