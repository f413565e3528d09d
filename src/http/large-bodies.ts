/**
 * Limits the cost of large bodies. Parsing and validating one takes much more processor time than other requests, so only a
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
 * The size in bytes from which a body waits for its turn. If the body isn't stored, it counts as one further request per this
 * many bytes.
 */
export const LARGE_BODY = 100_000;

/**
 * Maximum number of bytes in large bodies that one project may have in progress at a time, from parsing until read models show
 * the write; all projects together may have four times as many. A larger body takes its project's whole share.
 */
const SHARE = 2_000_000;
const ADMISSION = {
  total: 4 * SHARE,
  // One at a time while others have requests in progress, because two large bodies would take turns at the event loop.
  ofOne: () => (presence.several ? 0 : SHARE),
  waiting: 100,
  waitMs: 60_000,
} as const;

const sizes = new WeakMap<IncomingMessage, number>();

/** Records how many bytes of a large body were read. */
export function noteBody(request: IncomingMessage, bytes: number): void {
  sizes.set(request, bytes);
}

/** Sizes set in the service's configuration. */
export interface LargeBodyLimits {
  /** Maximum number of bytes held for all bodies together, beyond the first megabyte of each. */
  readonly bodyMemoryBytes: number;
  /** Maximum length of a request's body. */
  readonly bundleBytes: number;
}

/** Limits the memory for large bodies, makes them take turns, and counts those that were rejected. */
export class LargeBodies {
  readonly #admission = new Admission(ADMISSION);

  /** Counts the memory for bodies from when they arrive until they are answered. */
  readonly memory: HeldMemory;

  /** @param awaitShown waits until all read models show everything written so far */
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
   * Processes a request whose large body has been read, when it is its turn.
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
   * Ends the turn of a body that was stored. While others have requests in progress, the turn lasts until all read models show
   * the write.
   */
  async #endWhenShown(lease: Lease): Promise<void> {
    if (presence.several) await this.awaitShown().catch(() => undefined);
    lease.release();
  }

  /**
   * Counts a body that was not stored.
   * @param share the share of it that counts, from 0 to 1.
   * @returns undefined for a small body
   */
  count(ctx: Context, share = 1): Promise<void> | undefined {
    const requests = Math.floor(((sizes.get(ctx.req) ?? 0) * share) / LARGE_BODY);
    return requests === 0 ? undefined : this.limits.charge(ctx, requests);
  }
}

/** Malformed, too large, invalid. Other errors depend on the service's state, not on the body. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 422]);

/** Returns whether an error means that a request's body was processed and rejected. */
export function refusesBody(error: unknown): boolean {
  return error instanceof Refusal && REFUSED.has(error.status);
}
