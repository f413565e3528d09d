/** Rate limits over HTTP: which requests count for whom, the headers of each answer, and 429. */
import type { Context } from 'koa';
import type { Caller } from '#src/shared/access/caller.ts';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { Standing } from '#src/shared/load/traffic.ts';
import { Refusal } from '#src/shared/refusal.ts';
import { requireHead } from './answer/head.ts';
import type { ClientAddress } from './client-address.ts';
import type { RateLimits } from './ports/traffic.ts';

/** Orchestrators and Prometheus ask as often as they are set to. */
const NOT_LIMITED = /^\/(?:health\/|metrics$)/;

/**
 * Counts requests by client address, before anything else is checked, so that keys can't be guessed quickly,
 * and by API key, application, grant or person once it is known. Responses have the headers of draft-ietf-httpapi-ratelimit-headers for the
 * tighter of both.
 */
export class RequestLimits {
  readonly #policy: string;

  /**
   * @param limits undefined: no limits.
   * @param throttled counts refused requests.
   */
  constructor(
    private readonly limits: RateLimits | undefined,
    private readonly clientAddress: ClientAddress,
    private readonly throttled: (by: Counted) => void,
  ) {
    this.#policy = `"default";q=${limits?.limit ?? 0};w=60`;
  }

  /** Counts a request for its client's address. @throws Refusal throttled (429) with `Retry-After` */
  byAddress(ctx: Context): void | Promise<void> {
    if (this.limits === undefined || NOT_LIMITED.test(ctx.path)) return;
    return this.#count(ctx, this.limits, this.#ofAddress(ctx), 'address');
  }

  /** Returns the address that a request is counted for. */
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

  /** Counts a request for its API key, application or grant. @throws Refusal throttled (429) with `Retry-After` */
  byCaller(ctx: Context, caller: Caller): void | Promise<void> {
    if (this.limits === undefined) return;
    const [subject, by] = limitSubject(caller);
    return this.#count(ctx, this.limits, subject, by);
  }

  /** Counts a request for a person. @throws Refusal throttled (429) with `Retry-After` */
  byPerson(ctx: Context, person: PersonId): void | Promise<void> {
    if (this.limits === undefined) return;
    const [subject, by] = ofPerson(person);
    return this.#count(ctx, this.limits, subject, by);
  }

  /** Counts further requests for a request's address and caller: those in a Bundle. @throws Refusal throttled (429) */
  async further(ctx: Context, caller: Caller, requests: number): Promise<void> {
    for (let n = 0; n < requests; n += 1) {
      const byAddress = this.byAddress(ctx);
      if (byAddress !== undefined) await byAddress;
      const byCaller = this.byCaller(ctx, caller);
      if (byCaller !== undefined) await byCaller;
    }
  }

  /** Counts requests for a request's address and caller, as many as are left of them. Never rejects. */
  async charge(ctx: Context, requests: number): Promise<void> {
    for (const [subject] of this.#listSubjects(ctx))
      for (let n = 0; n < requests; n += 1) {
        const standing = await this.limits?.spend(subject);
        if (standing?.admitted !== true) break;
      }
  }

  /** @throws Refusal throttled (429) when the requests of a request's address or caller are used up by now */
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

/** The kinds of subjects by which requests are counted. */
type Counted = 'address' | 'key' | 'application' | 'grant' | 'person' | 'link';

/** A subject for which a request counts. */
type Subject = readonly [subject: string, by: Counted];

/** Returns the subject for which a caller's requests count (docs/spec/decisions.md, section 3). */
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

/** Returns the subject for which a person's requests count: all at the gateway, and those with a member's token. */
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
