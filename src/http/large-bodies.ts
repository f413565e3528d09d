/**
 * Limits the cost of large bodies. Parsing and validating one takes much more processor time than other requests. So only a
 * few are processed at a time, and a rejected one counts as many requests.
 */
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { Admission, type Lease } from '#src/shared/load/admission.ts';
import { HeldMemory } from '#src/shared/load/answer-budget.ts';
import { asSlice, presence } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { RequestLimits } from './limits.ts';

/**
 * The size, in bytes, from which a body waits for its turn. A body that isn't stored counts as one further request per this
 * many bytes.
 */
export const LARGE_BODY = 100_000;

/**
 * Maximum number of bytes in large bodies that one project may have in progress at a time, from parsing until read models
 * include the write. All projects together may have four times as many. A larger body uses up its project's whole share.
 */
const SHARE = 2_000_000;
const ADMISSION = {
  total: 4 * SHARE,
  // Process one at a time while other callers have requests in progress, because two large bodies would occupy the event loop
  // alternately.
  ofOne: () => (presence.several ? 0 : SHARE),
  waiting: 100,
  waitMs: 60_000,
} as const;

const sizes = new WeakMap<IncomingMessage, number>();

/** Records how many bytes of a large body were read. */
export function noteBody(request: IncomingMessage, bytes: number): void {
  sizes.set(request, bytes);
}

/** Sizes that the service's configuration sets. */
export interface LargeBodyLimits {
  /** Maximum number of bytes held in memory for all bodies together, not counting the first megabyte of each. */
  readonly bodyMemoryBytes: number;
  /** Maximum length of a request's body. */
  readonly bundleBytes: number;
}

/** Limits the memory for large bodies, makes them wait their turn, and counts rejected ones against rate limits. */
export class LargeBodies {
  readonly #admission = new Admission(ADMISSION);

  /** Counts the memory that each body uses, from its arrival until its response. */
  readonly memory: HeldMemory;

  /** @param awaitShown waits until all read models include everything written so far */
  constructor(
    private readonly limits: RequestLimits,
    { bodyMemoryBytes, bundleBytes }: LargeBodyLimits,
    private readonly awaitShown: () => Promise<unknown>,
  ) {
    this.memory = new HeldMemory({
      bytes: bodyMemoryBytes,
      largest: bundleBytes,
      refusal: 'the service is receiving too many large bodies; retry in a second, or send smaller ones',
    });
  }

  /**
   * Processes a request whose large body has been read, when its turn comes.
   * @param of the request's owner
   * @param size the body's size, in bytes
   * @throws Refusal throttled (429) if other requests have used up the caller's limit in the meantime, unavailable (503) if
   *   too many are waiting; rethrows errors of `work`
   */
  async run<T>(ctx: Context, of: string, size: number, work: () => Promise<T>): Promise<T> {
    const lease = await this.#admission.enter(of, Math.min(size, SHARE));
    try {
      this.limits.refuseUsedUp(ctx);
      const done = await asSlice(work);
      void this.#endWhenShown(lease);
      return done;
    } catch (error) {
      lease.release();
      throw error;
    }
  }

  /**
   * Ends the turn of a body that was stored. While other callers have requests in progress, the turn lasts until all read
   * models include the write.
   */
  async #endWhenShown(lease: Lease): Promise<void> {
    if (presence.several) await this.awaitShown().catch(() => undefined);
    lease.release();
  }

  /**
   * Counts a body that was not stored against the rate limits.
   * @param share the fraction of it that counts, from 0 to 1.
   * @returns undefined for a small body
   */
  count(ctx: Context, share = 1): Promise<void> | undefined {
    const requests = Math.floor(((sizes.get(ctx.req) ?? 0) * share) / LARGE_BODY);
    return requests === 0 ? undefined : this.limits.charge(ctx, requests);
  }
}

/** Malformed, too large, invalid. All other errors depend on the service's state, not on the body. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 422]);

/** Returns whether an error means that a request's body was processed and rejected. */
export function refusesBody(error: unknown): boolean {
  return error instanceof Refusal && REFUSED.has(error.status);
}
