/**
 * Rate limits across all instances (docs/spec/interface.md, section 8). An instance takes slices of a subject's budget
 * (`limit-leases.ts`) and spends them from memory; if they are spent quickly, the slices grow. All instances together allow
 * exactly as much as a single instance would. While the database is unreachable, each instance counts by itself, because
 * limits protect the service and must not stop it.
 */
import { LRUCache } from 'lru-cache';
import type { Standing } from '#src/shared/load/traffic.ts';
import type { Lease, LimitLeases } from './limit-leases.ts';

/** This instance's share of a subject's window. */
interface Held {
  /** End of the window, by `performance.now()`. */
  ends: number;
  window: number;
  /** The amount that is left in its slices. */
  left: number;
  /** The amount that was left in the budget when the last slice was taken. */
  remaining: number;
  /** How much this instance has allowed in the window. */
  spent: number;
  /** Size of the next slice. */
  slice: number;
  takenAt: number;
  spentAt: number;
  /** Until this time, nothing is left and the database isn't queried. */
  dryUntil: number;
  waiting: number;
  taking: Promise<void> | undefined;
}

/**
 * Intended duration of a slice, in ms. If a slice lasts less than half as long, the next slice is twice as large; a slice that
 * is idle for this long is returned.
 */
const SLICE_MS = 4_000;
/**
 * For slices of at least this size, the next slice is requested while a quarter of the last one is left, so that frequent
 * callers don't wait.
 */
const AHEAD_FROM = 32;
/**
 * The pause between queries, in ms, while a subject's budget is used up; other instances may have returned something in the
 * meantime.
 */
const DRY_MS = 1_000;
/** The maximum number of subjects to remember; the database has the others. */
const REMEMBERED = 50_000;
const SWEEP_MS = 30_000;

/** The limiter of one instance. */
export class RateLimits {
  readonly #held: LRUCache<string, Held>;
  readonly #timers: readonly NodeJS.Timeout[];

  constructor(
    private readonly leases: LimitLeases,
    remembered = REMEMBERED,
  ) {
    this.#held = new LRUCache<string, Held>({
      max: remembered,
      dispose: (held, subject, reason) => {
        if (reason === 'evict') void this.#bringBack(subject, held);
      },
    });
    this.#timers = [
      setInterval(() => this.#bringBackIdle(), SLICE_MS).unref(),
      setInterval(() => void leases.sweep().catch(() => undefined), SWEEP_MS).unref(),
    ];
  }

  /** Returns the number of requests that each window allows. */
  get limit(): number {
    return this.leases.limit;
  }

  /** Returns the number of remembered subjects. */
  get size(): number {
    return this.#held.size;
  }

  /** Counts a request. Answers at once while a slice lasts, otherwise after a query to the database. Never rejects. */
  spend(subject: string): Standing | Promise<Standing> {
    const held = this.#held.get(subject);
    if (held === undefined) return this.#spendLater(subject, this.#remember(subject));
    const found = this.#spendNow(held);
    if (found === undefined) return this.#spendLater(subject, held);
    if (held.slice >= AHEAD_FROM && held.left * 4 <= held.slice && found.admitted && !held.taking)
      void this.#begin(subject, held);
    return found;
  }

  /** Returns whether a subject's budget for the window is used up, as far as this instance knows. */
  isUsedUp(subject: string): boolean {
    const held = this.#held.peek(subject);
    return held !== undefined && held.ends > performance.now() && held.left <= 0 && held.remaining <= 0;
  }

  /** Returns what is left of all slices to the budgets. */
  async close(): Promise<void> {
    for (const timer of this.#timers) clearInterval(timer);
    await Promise.all([...this.#held.entries()].map(([subject, held]) => this.#bringBack(subject, held)));
  }

  #remember(subject: string): Held {
    const held: Held = {
      ends: 0,
      window: 0,
      left: 0,
      remaining: 0,
      spent: 0,
      slice: 1,
      takenAt: Number.NEGATIVE_INFINITY,
      spentAt: 0,
      dryUntil: 0,
      waiting: 0,
      taking: undefined,
    };
    this.#held.set(subject, held);
    return held;
  }

  /** Spends from memory; undefined if the database must be queried. */
  #spendNow(held: Held): Standing | undefined {
    const now = performance.now();
    if (held.ends <= now) return undefined;
    if (held.left > 0) {
      held.left -= 1;
      held.spent += 1;
      held.spentAt = now;
      return standing(true, held, now);
    }
    return held.dryUntil > now ? standing(false, held, now) : undefined;
  }

  async #spendLater(subject: string, held: Held): Promise<Standing> {
    held.waiting += 1;
    try {
      for (;;) {
        await (held.taking ?? this.#begin(subject, held));
        // Other waiting requests may have spent the slice, or the window may have ended.
        const found = this.#spendNow(held);
        if (found !== undefined) return found;
      }
    } finally {
      held.waiting -= 1;
    }
  }

  #begin(subject: string, held: Held): Promise<void> {
    held.taking = this.#take(subject, held).finally(() => {
      held.taking = undefined;
    });
    return held.taking;
  }

  async #take(subject: string, held: Held): Promise<void> {
    const asked = performance.now();
    const lasted = asked - held.takenAt;
    if (lasted < SLICE_MS / 2) held.slice = Math.min(held.slice * 2, this.limit);
    else if (lasted > SLICE_MS * 2) held.slice = Math.max(1, Math.floor(held.slice / 2));
    held.takenAt = asked;
    try {
      const want = Math.min(Math.max(held.slice, held.waiting), this.limit);
      this.#taken(held, await this.leases.take(subject, want), asked);
    } catch {
      this.#alone(held);
    }
  }

  #taken(held: Held, { granted, remaining, window, left }: Lease, asked: number): void {
    if (window !== held.window) {
      held.window = window;
      held.left = 0;
      held.spent = 0;
    }
    // Measured from before the query, so that a window ends no later here than in the database.
    held.ends = asked + left;
    held.left += granted;
    held.remaining = remaining;
    held.slice = Math.max(1, Math.min(held.slice, granted));
    held.dryUntil = granted === 0 ? performance.now() + DRY_MS : 0;
  }

  /** Counts locally while the database is unreachable. */
  #alone(held: Held): void {
    const now = performance.now();
    if (held.ends <= now) {
      held.ends = now + this.leases.windowMs;
      held.spent = 0;
    }
    held.window = 0;
    held.left = Math.max(0, this.limit - held.spent);
    held.remaining = 0;
    held.dryUntil = held.left === 0 ? now + DRY_MS : 0;
  }

  #bringBackIdle(): void {
    const before = performance.now() - SLICE_MS;
    for (const [subject, held] of this.#held.entries()) {
      if (held.left > 0 && held.spentAt < before) void this.#bringBack(subject, held);
    }
  }

  async #bringBack(subject: string, held: Held): Promise<void> {
    // Slices that are being fetched are returned too.
    await held.taking;
    const { left, window } = held;
    // Requests counted locally were never taken from the budget; a pending request is settled when it returns.
    if (left === 0 || window === 0 || held.taking !== undefined || held.ends <= performance.now()) return;
    held.left = 0;
    held.remaining += left;
    held.taking = this.leases
      .bringBack(subject, left, window)
      .catch(() => undefined)
      .finally(() => {
        held.taking = undefined;
      });
    await held.taking;
  }
}

function standing(admitted: boolean, { ends, left, remaining }: Held, now: number): Standing {
  return { admitted, remaining: left + remaining, seconds: Math.max(1, Math.ceil((ends - now) / 1000)) };
}
