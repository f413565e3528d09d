/** Determines a client's address from its socket and trusted proxies. */
import { BlockList, isIP, isIPv4 } from 'node:net';

/** `::ffff:192.0.2.1`, an IPv4 client of an IPv6 socket. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** The same in hexadecimal, as the URL parser prints it. */
const MAPPED_HEX = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;
/** The maximum number of entries of `X-Forwarded-For` that are read. */
const HOPS = 32;

/** Tells the address that a request is counted for. */
export type ClientAddress = (socket: string | undefined, forwardedFor: string | undefined) => string;

/**
 * Returns the rightmost address, of `X-Forwarded-For` and then the socket, that isn't a trusted proxy; anything left of
 * it is unverified. An invalid entry ends the search at the proxy that sent it. IPv4 in IPv6 counts as IPv4; for IPv6
 * the network of 64 bits counts, the usual share of one client.
 * @param trusted addresses and networks in CIDR notation, validated by the settings
 */
export function clientAddress(trusted: readonly string[]): ClientAddress {
  if (trusted.length === 0) return (socket) => counted(normal(socket ?? '') ?? 'unknown');
  const isProxy = trustedProxies(trusted);
  return (socket, forwardedFor) => {
    let client = normal(socket ?? '');
    if (client === undefined) return 'unknown';
    const hops = (forwardedFor ?? '').split(',').slice(-HOPS);
    for (let hop = hops.pop(); hop !== undefined && isProxy(client); hop = hops.pop()) {
      const next = normal(withoutPort(hop.trim()));
      if (next === undefined) break;
      client = next;
    }
    return counted(client);
  };
}

/**
 * Returns a test for trusted proxies.
 * @param trusted as in `clientAddress`
 */
export function trustedProxies(trusted: readonly string[]): (address: string) => boolean {
  if (trusted.length === 0) return () => false;
  const proxies = makeBlockList(trusted);
  return (text) => {
    const address = normal(text);
    return address !== undefined && proxies.check(address, isIPv4(address) ? 'ipv4' : 'ipv6');
  };
}

function makeBlockList(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [text = '', prefix] = network.split('/');
    const address = normal(text) ?? text;
    const family = isIPv4(address) ? 'ipv4' : 'ipv6';
    // A network of mapped addresses counts its bits from where IPv4 begins.
    const bits =
      prefix === undefined ? undefined : Number(prefix) - (isIPv4(address) && !isIPv4(text) ? 96 : 0);
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Math.max(0, bits), family);
  }
  return list;
}

/** Removes the port that some proxies add: `192.0.2.1:4711`, `[2001:db8::1]:4711`. */
function withoutPort(text: string): string {
  return /^\[([^\]]*)\](?::\d+)?$/.exec(text)?.[1] ?? /^(\d+\.\d+\.\d+\.\d+):\d+$/.exec(text)?.[1] ?? text;
}

/** Returns an address in its canonical spelling, IPv4 in IPv6 as IPv4; undefined if it is invalid. */
function normal(text: string): string | undefined {
  const family = isIP(text);
  if (family === 4) return text;
  if (family === 0) return undefined;
  const mapped = MAPPED.exec(text)?.[1];
  if (mapped !== undefined) return mapped;
  // A zone (fe80::1%eth0) is only of this machine.
  const spelled = new URL(`http://[${text.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [, high, low] = MAPPED_HEX.exec(spelled) ?? [];
  if (high === undefined || low === undefined) return spelled;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return `${a >> 8}.${a & 255}.${b >> 8}.${b & 255}`;
}

/** Returns the unit of counting: an IPv4 address, or the first 64 bits of an IPv6 address. */
function counted(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(8 - before.length - after.length).fill('0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
}
