/**
 * Addresses of the public internet. What a customer may have the service connect to must be one: else it would knock at
 * doors inside the operator's own network for them (server-side request forgery; RFC 6890 lists the special ranges).
 */
import { type LookupAddress, lookup } from 'node:dns';
import { BlockList, isIP, type LookupFunction } from 'node:net';

const special = new BlockList();
for (const range of [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
]) {
  const [network = '', bits] = range.split('/');
  special.addSubnet(network, Number(bits), 'ipv4');
}
// Of IPv6 only global unicast is public at all; in there, protocol assignments with Teredo, documentation, and 6to4 are not.
const global = new BlockList();
global.addSubnet('2000::', 3, 'ipv6');
for (const [network, bits] of [
  ['2001::', 23],
  ['2001:db8::', 32],
  ['2002::', 16],
  ['3fff::', 20],
] as const) {
  special.addSubnet(network, bits, 'ipv6');
}

/** Whether an IP address, as text without brackets, is one of the public internet. */
export function isPublicAddress(address: string): boolean {
  switch (isIP(address)) {
    case 4:
      return !special.check(address, 'ipv4');
    case 6:
      return global.check(address, 'ipv6') && !special.check(address, 'ipv6');
    default:
      return false;
  }
}

/** A name leads to an address that is not public. */
export class NotPublic extends Error {
  override readonly name = 'NotPublic';
  constructor(readonly hostname: string) {
    super(`${hostname} has no public address`);
  }
}

/**
 * For the `lookup` option of a request: a name whose addresses are not all public is an error, NotPublic, and nothing is
 * connected to. Addresses in a URL are never looked up: they must be checked with `isPublicAddress` before.
 */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  lookup(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    if (error !== null) return callback(error, '');
    const [first] = addresses;
    if (first === undefined || !addresses.every(({ address }) => isPublicAddress(address))) {
      return callback(new NotPublic(hostname), '');
    }
    return options.all === true ? callback(null, addresses) : callback(null, first.address, first.family);
  });
};
