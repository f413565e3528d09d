/** Turns at something of which there is little, shared fairly: nobody takes all of it, and nobody waits without end. */
import { unavailable } from './refusal.ts';

/** How much there is, and for whom. */
export interface TurnLimits {
  /** Most at a time. */
  readonly total: number;
  /** Most at a time of one sharer. */
  readonly ofOne: number;
  /** Most of one sharer that wait. */
  readonly waiting: number;
  /** How long one waits, in ms. */
  readonly waitMs: number;
}

interface Waiter {
  readonly begin: () => void;
}

interface Sharer {
  running: number;
  /** In the order in which they came. */
  readonly waiters: Set<Waiter>;
}

/** Gives turns: the next one is of the sharer that has the fewest running, of equal ones of who waits longest. */
export class Turns {
  readonly #limits: TurnLimits;
  readonly #sharers = new Map<string, Sharer>();
  #running = 0;

  constructor(limits: TurnLimits) {
    this.#limits = limits;
  }

  /**
   * Does some work when it is its sharer's turn.
   * @throws Refusal `unavailable` (503) when too many of the sharer wait, or it has waited too long; the work is not begun.
   */
  async run<T>(of: string, work: () => Promise<T>): Promise<T> {
    const sharer = this.#sharers.get(of) ?? { running: 0, waiters: new Set() };
    this.#sharers.set(of, sharer);
    if (this.#isFree(sharer)) this.#begin(sharer);
    else await this.#turnOf(of, sharer);
    try {
      return await work();
    } finally {
      this.#end(of, sharer);
    }
  }

  #isFree({ running }: Sharer): boolean {
    return this.#running < this.#limits.total && running < this.#limits.ofOne;
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
    // Behind the others: of equal ones it is not first again.
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
  return unavailable('too much is being asked at the moment');
}
