/**
 * Look-ups of hosts that customers name: receivers of webhooks, and issuers of organizations. They never use the system's
 * own look-up (`getaddrinfo`): it has four threads for the whole process, so a few names whose servers don't answer
 * would delay every other look-up, and the reading of files too.
 */
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import { isPublicAddress, NotPublic } from './public-address.ts';

/** Gives all addresses of a name. Rejects with an error that has a code of DNS, such as `ENOTFOUND`. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** How long one question to a name server may take before it is asked again, in ms, and how often it is asked. */
const PATIENCE = { timeout: 2_000, tries: 3 };
/** How long a name whose servers did not answer is not asked about again, in ms; and of how many names that is known. */
const PAUSE_MS = 5_000;
const MOST_SILENT = 1_000;
/** Codes of a failure that says nothing about the name. */
const SILENT = new Set(['ETIMEOUT', 'ESERVFAIL', 'ECONNREFUSED', 'EREFUSED']);

/** `localhost` and the names below it mean this machine (RFC 6761, section 6.3); name servers don't know them. */
const LOCAL = /^(?:.+\.)?localhost\.?$/i;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Asks the name servers of the system. Other names in /etc/hosts than `localhost` are not found, and neither are short
 * names that depend on a search domain. Each name is asked about once at a time, however many wait for it, and not for
 * five seconds after its servers did not answer: one slow host takes one place.
 * @param servers `address:port` of name servers; default: the system's.
 */
export function askNameServers(servers?: readonly string[]): Resolve {
  const resolver = new Resolver(PATIENCE);
  if (servers !== undefined) resolver.setServers(servers);
  const asking = new Map<string, Promise<readonly LookupAddress[]>>();
  const silent = new LRUCache<string, Error>({ max: MOST_SILENT, ttl: PAUSE_MS });
  const ask = async (hostname: string): Promise<readonly LookupAddress[]> => {
    const [v4, v6] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
    const addresses = [...of(v4, 4), ...of(v6, 6)];
    if (addresses.length > 0 || v4.status === 'fulfilled') return addresses;
    const { code } = v4.reason as NodeJS.ErrnoException;
    if (code !== undefined && SILENT.has(code)) silent.set(hostname, v4.reason);
    throw v4.reason;
  };
  return (hostname) => {
    if (LOCAL.test(hostname)) return Promise.resolve(LOOPBACK);
    const failure = silent.get(hostname);
    if (failure !== undefined) return Promise.reject(failure);
    const underWay = asking.get(hostname) ?? ask(hostname).finally(() => asking.delete(hostname));
    asking.set(hostname, underWay);
    return underWay;
  };
}

function of(answer: PromiseSettledResult<string[]>, family: 4 | 6): LookupAddress[] {
  return answer.status === 'fulfilled' ? answer.value.map((address) => ({ address, family })) : [];
}

/** How hosts of customers are reached. */
export interface CustomerHosts {
  /** For the `lookup` option of sockets. The address that was checked is the one connected to. */
  readonly lookup: LookupFunction;
  /** Checks a host before a request: sockets look no address up. @param host a name, or an address without brackets. @throws NotPublic */
  readonly check: (host: string) => void;
}

/**
 * Makes both.
 * @param publicOnly whether a host with an address that is not public is an error, `NotPublic`, and not connected to.
 * @param resolve default: `askNameServers()`.
 */
export function customerHosts(publicOnly: boolean, resolve: Resolve = askNameServers()): CustomerHosts {
  const allowed = (address: string): boolean => !publicOnly || isPublicAddress(address);
  return {
    lookup(hostname, { all }, callback) {
      resolve(hostname).then(
        (addresses) => {
          const [first] = addresses;
          if (first === undefined || !addresses.every(({ address }) => allowed(address)))
            callback(first === undefined ? noAddress(hostname) : new NotPublic(hostname), '', 0);
          else if (all === true) callback(null, [...addresses]);
          else callback(null, first.address, first.family);
        },
        (error: NodeJS.ErrnoException) => callback(error, '', 0),
      );
    },
    check(host) {
      if (isIP(host) !== 0 && !allowed(host)) throw new NotPublic(host);
    },
  };
}

function noAddress(hostname: string): NodeJS.ErrnoException {
  return Object.assign(new Error(`${hostname} has no address`), { code: 'ENOTFOUND' });
}
