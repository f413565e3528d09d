import type { Tenant } from '#src/shared/access/caller.ts';
import type { LoggedRequest, Standing } from '#src/shared/load/traffic.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** Counts requests by API key, application, grant and client address, across all instances. */
export interface RateLimits {
  /** Maximum number of requests per minute. */
  readonly limit: number;
  /**
   * Counts one request.
   * @param subject `key/<id>`, `application/<id>`, `grant/<id>` or `address/<address>`
   */
  spend(subject: string): Standing | Promise<Standing>;
  /** Returns whether a subject has no requests left, as far as this instance knows. */
  isUsedUp(subject: string): boolean;
}

/** Records answered requests. */
export interface Notebook {
  readonly requestLog: { add(request: LoggedRequest): void };
  readonly usage: { request(tenant: Tenant, writes: boolean, status: number): void };
  readonly keyUse: { used(keyId: string, at: Micros): void };
}
