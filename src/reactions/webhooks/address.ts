/**
 * Which addresses deliveries may go to: public unicast ones alone (IANA's registries of special-purpose addresses, RFC
 * 6890). A name is looked up, checked, and the address that was checked is the one connected to.
 */
import type { LookupAddress, LookupOptions } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { BlockList, isIP, type LookupFunction } from 'node:net';

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
/** Within 2000::/3, the only block of global unicast; all beside it (mapped, NAT64, ULA, link-local …) is refused. */
const SPECIAL_V6 = [
  '2001::/23', // protocol assignments, Teredo
  '2001:db8::/32', // documentation
  '2002::/16', // 6to4: any IPv4 address
  '2620:4f:8000::/48', // AS112
  '3fff::/20', // documentation
];

const special = listOf(SPECIAL_V4, 'ipv4', listOf(SPECIAL_V6, 'ipv6', new BlockList()));
const unicast = listOf(['2000::/3'], 'ipv6', new BlockList());

function listOf(networks: readonly string[], family: 'ipv4' | 'ipv6', list: BlockList): BlockList {
  for (const network of networks) {
    const [address = '', prefix] = network.split('/');
    list.addSubnet(address, Number(prefix), family);
  }
  return list;
}

/** Whether an address is one of the public internet. @param address IPv4 in four decimals, or IPv6, with or without zone */
export function isPublicAddress(address: string): boolean {
  const family = isIP(address);
  if (family === 4) return !special.check(address, 'ipv4');
  if (family !== 6 || address.includes('%')) return false;
  return unicast.check(address, 'ipv6') && !special.check(address, 'ipv6');
}

/** A name leads to an address that deliveries may not go to. */
export class ForbiddenAddress extends Error {
  override readonly name = 'ForbiddenAddress';
  constructor() {
    super('the URL leads to an address that is not of the public internet');
  }
}

/** Looks a name up, all its addresses. */
export type Resolve = (
  hostname: string,
  options: LookupOptions & { all: true },
  callback: (error: NodeJS.ErrnoException | null, addresses: LookupAddress[]) => void,
) => void;

/**
 * Asks the name servers of the system. Unlike the system's own look-up, which has four threads for the whole process,
 * names whose servers do not answer hold up no others. Files such as /etc/hosts are not read: what they name is seldom
 * of the public internet.
 * @param servers of names, `address:port`; default: the system's.
 */
export function askNameServers(servers?: readonly string[]): Resolve {
  const resolver = new Resolver({ timeout: 2_000, tries: 3 });
  if (servers !== undefined) resolver.setServers(servers);
  return (hostname, _options, callback) => {
    void Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]).then(([v4, v6]) => {
      const addresses: LookupAddress[] = [];
      if (v4.status === 'fulfilled') addresses.push(...v4.value.map((address) => ({ address, family: 4 })));
      if (v6.status === 'fulfilled') addresses.push(...v6.value.map((address) => ({ address, family: 6 })));
      if (addresses.length === 0 && v4.status === 'rejected')
        callback(v4.reason as NodeJS.ErrnoException, []);
      else callback(null, addresses);
    });
  };
}

/**
 * A look-up for sockets that gives public addresses alone.
 * @param resolve default: the system's name servers.
 * @returns what sockets call; it fails with `ForbiddenAddress` when one of the name's addresses is not public.
 */
export function publicLookup(resolve: Resolve = askNameServers()): LookupFunction {
  return (hostname, options, callback) => {
    resolve(hostname, { ...options, all: true }, (error, addresses) => {
      const [first] = addresses ?? [];
      if (error !== null) callback(error, '', 0);
      else if (first === undefined) callback(new ForbiddenAddress(), '', 0);
      else if (!addresses.every(({ address }) => isPublicAddress(address)))
        callback(new ForbiddenAddress(), '', 0);
      else if (options.all === true) callback(null, addresses);
      else callback(null, first.address, first.family);
    });
  };
}
