/**
 * Recognises addresses on the public internet. In production, hosts that customers specify must be public, so that customers
 * can't make the service connect to the operator's own network (server-side request forgery). The ranges come from IANA's
 * registries of special-purpose addresses (RFC 6890).
 */
import { BlockList, isIP } from 'node:net';

const SPECIAL_V4 = [
  '0.0.0.0/8', // this network
  '10.0.0.0/8', // private
  '100.64.0.0/10', // carrier-grade NAT
  '127.0.0.0/8', // loopback
  '169.254.0.0/16', // link-local, cloud metadata
  '172.16.0.0/12', // private
  '192.0.0.0/24', // protocol assignments
  '192.0.2.0/24', // documentation
  '192.31.196.0/24', // AS112
  '192.52.193.0/24', // AMT
  '192.88.99.0/24', // 6to4 relays
  '192.168.0.0/16', // private
  '192.175.48.0/24', // AS112
  '198.18.0.0/15', // benchmarks
  '198.51.100.0/24', // documentation
  '203.0.113.0/24', // documentation
  '224.0.0.0/4', // multicast
  '240.0.0.0/4', // reserved, broadcast
];
/**
 * Special ranges within 2000::/3, the only block of global unicast addresses. Everything outside that block (mapped, NAT64,
 * ULA, link-local …) is refused.
 */
const SPECIAL_V6 = [
  '2001::/23', // protocol assignments, Teredo
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: any IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
];

const special = addNetworks(SPECIAL_V4, 'ipv4', addNetworks(SPECIAL_V6, 'ipv6', new BlockList()));
const unicast = addNetworks(['2000::/3'], 'ipv6', new BlockList());

function addNetworks(networks: readonly string[], family: 'ipv4' | 'ipv6', list: BlockList): BlockList {
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/**
 * Returns whether an address is public.
 * @param address IPv4 as four decimal numbers, or IPv6 without brackets; any other text is not public
 */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special.check(address, 'ipv4');
  if (family !== 6 || address.includes('%')) return false;
  return unicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/** Thrown when a host that a customer specified has an address that isn't public. */
export class NotPublic extends Error {
  override readonly name = 'NotPublic';
  /** @param hostname a name, or an address without brackets */
  constructor(readonly hostname: string) {
    super(
      `${hostname} has an address that is not public; the service connects to public internet addresses only`,
    );
  }
}
