/**
 * Looks up hosts that customers specify: webhook receivers, and organizations' issuers. The system's lookup (`getaddrinfo`)
 * isn't used, because it has only four threads for the whole process: a few names whose servers don't respond would delay
 * every other lookup and every file access.
 */
import type { LookupAddress } from 'node:dns';
import { Resolver } from 'node:dns/promises';
import { isIP, type LookupFunction } from 'node:net';
import { LRUCache } from 'lru-cache';
import { isPublicAddress, NotPublic } from './public-address.ts';

/** Returns all addresses of a name. Rejects with an error that has a DNS code, such as `ENOTFOUND`. */
export type Resolve = (hostname: string) => Promise<readonly LookupAddress[]>;

/** Timeout for one query to a name server, in ms, and the number of tries. */
const PATIENCE = { timeout: 2_000, tries: 3 };
/**
 * How long a name isn't looked up again after its servers failed to respond, in ms, and the maximum number of names for which
 * this is remembered.
 */
const PAUSE_MS = 5_000;
const MOST_SILENT = 1_000;
/** Codes of failures that don't tell whether the name exists. */
const SILENT = new Set(['ETIMEOUT', 'ESERVFAIL', 'ECONNREFUSED', 'EREFUSED']);

/**
 * Matches `localhost` and names under it, which refer to this machine (RFC 6761, section 6.3) and are unknown to name servers.
 */
const LOCAL = /^(?:.+\.)?localhost\.?$/i;
const LOOPBACK: readonly LookupAddress[] = [
  { address: '127.0.0.1', family: 4 },
  { address: '::1', family: 6 },
];

/**
 * Looks up names at the system's name servers. Ignores /etc/hosts (except for `localhost`) and search domains. Callers that
 * are waiting for the same name share one look-up. After a failure, the name isn't looked up for five seconds, so a host with
 * slow servers takes up only one place.
 * @param servers `address:port` of name servers; default: the system's name servers
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

/** Connects to customers' hosts. */
export interface CustomerHosts {
  /** For the `lookup` option of sockets. It ensures that the socket connects to the address that was checked. */
  readonly lookup: LookupFunction;
  /**
   * Checks a host before a request, because sockets don't look up a host that is an address.
   * @param host a name, or an address without brackets
   * @throws NotPublic
   */
  readonly check: (host: string) => void;
}

/**
 * Returns the lookup and the check.
 * @param publicOnly whether hosts with an address that isn't public are refused with `NotPublic`
 * @param resolve default: `askNameServers()`
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
