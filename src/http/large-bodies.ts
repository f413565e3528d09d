/**
 * Limits the cost of large bodies. Parsing and validating one takes much more processor time than other
 * requests: only few are processed at a time, and a rejected one counts as many requests.
 */
import type { IncomingMessage } from 'node:http';
import type { Context } from 'koa';
import { Admission, type Lease } from '#src/shared/load/admission.ts';
import { HeldMemory } from '#src/shared/load/answer-budget.ts';
import { asSlice, presence } from '#src/shared/load/slices.ts';
import { Refusal } from '#src/shared/refusal.ts';
import type { RequestLimits } from './limits.ts';

/**
 * The size in bytes from which a body waits for its turn. If it isn't stored, it counts as one further request per this number
 * of bytes.
 */
export const LARGE_BODY = 100_000;

/**
 * The maximum number of bytes of large bodies in progress at a time, from parsing until read models show the write: for
 * one project; all projects together may have four times as many. A larger body takes its project's whole share.
 */
const SHARE = 2_000_000;
const ADMISSION = {
  total: 4 * SHARE,
  // One at a time while others have requests in progress: two would take turns at the event loop.
  ofOne: () => (presence.several ? 0 : SHARE),
  waiting: 100,
  waitMs: 60_000,
} as const;

const sizes = new WeakMap<IncomingMessage, number>();

/** Notes how many bytes of a large body were read. */
export function noteBody(request: IncomingMessage, bytes: number): void {
  sizes.set(request, bytes);
}

/** Sizes that a service is set to. */
export interface LargeBodyLimits {
  /** Bytes of all bodies together that are held at a time, beyond the first megabyte of each. */
  readonly bodyMemoryBytes: number;
  /** The longest body that a request may have. */
  readonly bundleBytes: number;
}

/** Bounds the memory of large bodies, takes turns at them, and counts those that were for nothing. */
export class LargeBodies {
  readonly #admission = new Admission(ADMISSION);

  /** Counts the memory of bodies while they come in and until they are answered. */
  readonly memory: HeldMemory;

  /** @param awaitShown waits until all read models show what was written so far */
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
   * Processes a request whose large body was read, when it is its turn.
   * @param of the owner of the request @param size of the body, in bytes
   * @throws Refusal throttled (429) when other requests used up the caller's limit meanwhile, unavailable
   * (503) when too many wait; rethrows errors of `work`
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
   * Ends the turn of a body that was stored. While others have requests under way, the turn lasts until all read models
   * show it.
   */
  async #endWhenShown(lease: Lease): Promise<void> {
    if (presence.several) await this.awaitShown().catch(() => undefined);
    lease.release();
  }

  /**
   * Counts a body that was not stored. @param share of it, from 0 to 1.
   * @returns nothing for a small one
   */
  count(ctx: Context, share = 1): Promise<void> | undefined {
    const requests = Math.floor(((sizes.get(ctx.req) ?? 0) * share) / LARGE_BODY);
    return requests === 0 ? undefined : this.limits.charge(ctx, requests);
  }
}

/** Malformed, too large, invalid. Other errors depend on the state of the service, not on the body. */
const REFUSED: ReadonlySet<number> = new Set([400, 413, 422]);

/** Returns true if an error means that a request's body was processed and rejected. */
export function refusesBody(error: unknown): boolean {
  return error instanceof Refusal && REFUSED.has(error.status);
}
