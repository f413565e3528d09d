/**
 * Applies rate limits over HTTP: determines whose limit a request counts against (client address or caller), and sets the
 * headers of each response, and 429.
 */

import { BlockList, isIP, isIPv4 } from 'node:net';
import type { Context } from 'koa';
import type { Caller } from '#src/shared/access/caller.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { Standing } from '#src/shared/load/traffic.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { requireHead } from './answer/send.ts';
import type { RateLimits } from './ports/traffic.ts';

/** `::ffff:192.0.2.1`: an IPv4 client on an IPv6 socket. */
const MAPPED = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i;
/** The same address in hexadecimal, as the URL parser prints it. */
const MAPPED_HEX = /^::ffff:([0-9a-f]{1,4}):([0-9a-f]{1,4})$/;
/** Maximum number of `X-Forwarded-For` entries that are read. */
const HOPS = 32;

/** Returns the address that a request counts against. */
type ClientAddress = (socket: string | undefined, forwardedFor: string | undefined) => string;

/**
 * Returns the rightmost address that isn't a trusted proxy, starting with the socket and then going through `X-Forwarded-For`;
 * anything to the left of it is unverified. An invalid entry ends the search at the proxy that sent it. IPv4 addresses in IPv6
 * are treated as IPv4. For other IPv6 addresses, the result is the 64-bit network, because one client usually has a whole
 * network.
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
    // In a network of mapped addresses, IPv4 begins after 96 bits, which are subtracted from the prefix length.
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

/** Returns an address in its canonical spelling, with IPv4 in IPv6 as IPv4; undefined if it is invalid. */
function normal(text: string): string | undefined {
  const family = isIP(text);
  if (family === 4) return text;
  if (family === 0) return undefined;
  const mapped = MAPPED.exec(text)?.[1];
  if (mapped !== undefined) return mapped;
  // A zone (fe80::1%eth0) is meaningful only on this machine.
  const spelled = new URL(`http://[${text.replace(/%.*$/, '')}]`).hostname.slice(1, -1);
  const [, high, low] = MAPPED_HEX.exec(spelled) ?? [];
  if (high === undefined || low === undefined) return spelled;
  const [a, b] = [Number.parseInt(high, 16), Number.parseInt(low, 16)];
  return `${a >> 8}.${a & 255}.${b >> 8}.${b & 255}`;
}

/** Returns the unit for which requests are counted: an IPv4 address, or the first 64 bits of an IPv6 address. */
function counted(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? [] : Array<string>(8 - before.length - after.length).fill('0');
  return `${[...before, ...zeros, ...after].slice(0, 4).join(':')}::/64`;
}

/**
 * Counts requests by client address before anything else is checked, so that keys can't be guessed quickly, and by API key,
 * application, grant or person once these are known. Responses include the headers from draft-ietf-httpapi-ratelimit-headers
 * for the tighter of the two limits.
 */
export class RequestLimits {
  readonly #policy: string;

  /**
   * @param limits undefined: no limits.
   * @param throttled counts refused requests.
   * @param unlimited paths whose requests aren't counted
   */
  constructor(
    private readonly limits: RateLimits | undefined,
    private readonly clientAddress: ClientAddress,
    private readonly throttled: (by: Counted) => void,
    private readonly unlimited: ReadonlySet<string> = new Set(),
  ) {
    this.#policy = `"default";q=${limits?.limit ?? 0};w=60`;
  }

  /**
   * Counts a request against the limit of its client's address.
   * @throws Refusal throttled (429) with `Retry-After`
   */
  byAddress(ctx: Context): void | Promise<void> {
    if (this.limits === undefined || this.unlimited.has(ctx.path)) return;
    return this.#count(ctx, this.limits, this.#ofAddress(ctx), 'address');
  }

  /** Returns the address that a request counts against. */
  readAddress({ req: { headers, socket } }: Context): string {
    const forwarded = headers['x-forwarded-for'];
    return this.clientAddress(
      socket.remoteAddress,
      Array.isArray(forwarded) ? forwarded.join(',') : forwarded,
    );
  }

  #ofAddress(ctx: Context): string {
    return `address/${this.readAddress(ctx)}`;
  }

  /**
   * Counts a request against the limit of its API key, application or grant.
   * @throws Refusal throttled (429) with `Retry-After`
   */
  byCaller(ctx: Context, caller: Caller): void | Promise<void> {
    if (this.limits === undefined) return;
    const [subject, by] = limitSubject(caller);
    return this.#count(ctx, this.limits, subject, by);
  }

  /**
   * Counts a request against a person's limit.
   * @throws Refusal throttled (429) with `Retry-After`
   */
  byPerson(ctx: Context, person: PersonId): void | Promise<void> {
    if (this.limits === undefined) return;
    const [subject, by] = ofPerson(person);
    return this.#count(ctx, this.limits, subject, by);
  }

  /**
   * Counts further requests, such as the entries of a Bundle, against the limits of a request's address and caller.
   * @throws Refusal throttled (429)
   */
  async further(ctx: Context, caller: Caller, requests: number): Promise<void> {
    for (let n = 0; n < requests; n += 1) {
      const byAddress = this.byAddress(ctx);
      if (byAddress !== undefined) await byAddress;
      const byCaller = this.byCaller(ctx, caller);
      if (byCaller !== undefined) await byCaller;
    }
  }

  /**
   * Counts a number of requests against the limits of a request's address and caller, but at most as many as they have left.
   * Never rejects.
   */
  async charge(ctx: Context, requests: number): Promise<void> {
    for (const [subject] of this.#listSubjects(ctx))
      for (let n = 0; n < requests; n += 1) {
        const standing = await this.limits?.spend(subject);
        if (standing?.admitted !== true) break;
      }
  }

  /**
   * Refuses a request whose address or caller has reached its limit in the meantime.
   * @throws Refusal throttled (429)
   */
  refuseUsedUp(ctx: Context): void {
    for (const [subject, by] of this.#listSubjects(ctx))
      if (this.limits?.isUsedUp(subject)) throw usedUp(by, 1);
  }

  #listSubjects(ctx: Context): Subject[] {
    const caller: Caller | undefined = ctx.state.caller;
    const ofAddress: Subject = [this.#ofAddress(ctx), 'address'];
    return caller === undefined ? [ofAddress] : [ofAddress, limitSubject(caller)];
  }

  #count(ctx: Context, limits: RateLimits, subject: string, by: Counted): void | Promise<void> {
    const standing = limits.spend(subject);
    if (standing instanceof Promise) return standing.then((found) => this.#judge(ctx, found, by));
    this.#judge(ctx, standing, by);
  }

  #judge(ctx: Context, { admitted, remaining, seconds }: Standing, by: Counted): void {
    const { state } = ctx;
    const told: number | undefined = state.rateLimitRemaining;
    const head = requireHead(ctx);
    if (told === undefined) head.set('RateLimit-Policy', this.#policy);
    if (told === undefined || remaining < told) {
      state.rateLimitRemaining = remaining;
      head.set('RateLimit', `"default";r=${remaining};t=${seconds}`);
    }
    if (admitted) return;
    this.throttled(by);
    throw usedUp(by, seconds);
  }
}

/** The kinds of subjects for which requests are counted. */
type Counted = 'address' | 'key' | 'application' | 'grant' | 'person' | 'link';

/** A subject that a request counts against. */
type Subject = readonly [subject: string, by: Counted];

/** Returns the subject that a caller's requests count against (docs/spec/decisions.md, section 3). */
function limitSubject({ calls: { credential } }: Caller): Subject {
  switch (credential.kind) {
    case 'api_key':
      return [`key/${credential.keyId}`, 'key'];
    case 'client':
      return [`application/${credential.applicationId}`, 'application'];
    case 'grant':
      return [`grant/${credential.grantId}`, 'grant'];
    case 'shared_link':
      return [`link/${credential.linkId}`, 'link'];
    case 'member':
    case 'person':
      return ofPerson(credential);
  }
}

/**
 * Returns the subject that a person's requests count against. These are all gateway requests, and requests with a member's
 * token.
 */
function ofPerson({ issuer, subject }: PersonId): Subject {
  return [`person/${issuer}\n${subject}`, 'person'];
}

const COUNTED: Readonly<Record<Counted, string>> = {
  address: 'client address',
  key: 'API key',
  application: 'application',
  grant: 'grant',
  person: 'person',
  link: 'shared link',
};

function usedUp(by: Counted, seconds: number): Refusal {
  return new Refusal(
    'throttled',
    {
      code: 'throttled',
      diagnostics: `this ${COUNTED[by]} has reached its limit of requests per minute; retry in ${seconds} s`,
    },
    { 'Retry-After': String(seconds) },
  );
}
