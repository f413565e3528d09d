/** Shares a scarce resource fairly: no user takes all of it, and none waits forever. */
import { unavailable } from './refusal.ts';

/** Limits of a shared resource. */
export interface TurnLimits {
  /** Most at a time, over all users. */
  readonly total: number;
  /** Most at a time, per user. */
  readonly ofOne: number;
  /** Most that wait, per user. */
  readonly waiting: number;
  /** Longest wait, in ms. */
  readonly waitMs: number;
}

interface Waiter {
  readonly begin: () => void;
}

interface Sharer {
  running: number;
  /** Most at a time. */
  most: number;
  /** In the order of their arrival. */
  readonly waiters: Set<Waiter>;
}

/**
 * Gives turns: the next one goes to the user with the fewest running, and among equals to the one that has waited
 * longest.
 */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #sharers = new Map<string, Sharer>();
  #running = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /**
   * Does work when its user has a turn.
   * @param most of the user at a time; default: `ofOne`
   * @throws Refusal `unavailable` (503) if too many of the user wait or the wait was too long; the work is then not
   *   begun
   */
  async run<T>(of: string, work: () => Promise<T>, most = this.#limits.ofOne): Promise<T> {
    const sharer = this.#sharers.get(of) ?? { running: 0, most, waiters: new Set() };
    this.#sharers.set(of, sharer);
    if (this.#isFree(sharer)) this.#begin(sharer);
    else await this.#turnOf(of, sharer);
    try {
      return await work();
    } finally {
      this.#end(of, sharer);
    }
  }

  #isFree({ running, most }: Sharer): boolean {
    return this.#running < this.#limits.total && running < most;
  }

  #begin(sharer: Sharer): void {
    sharer.running += 1;
    this.#running += 1;
  }

  #turnOf(of: string, sharer: Sharer): Promise<void> {
    const { waiting, waitMs } = this.#limits;
    if (sharer.waiters.size >= waiting) throw busy();
    return new Promise((resolve, reject) => {
      const timeout = setTimeout(() => {
        sharer.waiters.delete(waiter);
        if (sharer.running === 0 && sharer.waiters.size === 0) this.#sharers.delete(of);
        reject(busy());
      }, waitMs);
      const waiter: Waiter = {
        begin: () => {
          clearTimeout(timeout);
          sharer.waiters.delete(waiter);
          this.#begin(sharer);
          resolve();
        },
      };
      sharer.waiters.add(waiter);
    });
  }

  #end(of: string, sharer: Sharer): void {
    sharer.running -= 1;
    this.#running -= 1;
    // Moves to the end: among equals it isn't first again.
    this.#sharers.delete(of);
    if (sharer.running > 0 || sharer.waiters.size > 0) this.#sharers.set(of, sharer);
    const [next] = [...this.#sharers.values()]
      .filter((each) => each.waiters.size > 0 && this.#isFree(each))
      .sort((a, b) => a.running - b.running);
    const [waiter] = next?.waiters ?? [];
    waiter?.begin();
  }
}

function busy(): Error {
  return unavailable('too many requests are waiting; retry in a second');
}
