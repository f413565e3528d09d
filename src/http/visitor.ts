/** The person behind a request of the gateway. Routes find them in the place of a credential. */
import type { Context } from 'koa';
import type { Caller } from '#src/shared/caller.ts';
import type { Identity } from '#src/shared/identity.ts';

/** A signed-in person, checked for this request alone. */
export interface Visitor {
  readonly identity: Identity;
  /** Takes the credential's place where one names a request. No header can carry it, because it has a space. */
  readonly credential: string;
  /**
   * Returns what the person may do in the project that the request names, by their role as it is now.
   * @throws Refusal malformed (400), not_found (404), forbidden (403)
   */
  readonly caller: () => Promise<Caller>;
}

const visitors = new WeakMap<Context, Visitor>();

/** Makes a person the one behind a request. */
export function setVisitor(ctx: Context, visitor: Visitor): void {
  visitors.set(ctx, visitor);
}

/** Returns the person behind a request of the gateway; undefined for all other requests. */
export function visitorOf(ctx: Context): Visitor | undefined {
  return visitors.get(ctx);
}
