/**
 * Shares a scarce resource among its users, which are usually projects. Each user has a share and its own queue, and has a
 * lease while it uses some of the resource. So no user can take everything, and no user waits forever.
 */
import { type Refusal, unavailable } from '../refusal.ts';

/** A quantity that users share, such as places, events or bytes. */
export interface Budget {
  /** The quantity that all users together may use; a function if it changes. */
  readonly total: number | (() => number);
  /** The quantity that one user may use; a function if it changes. */
  readonly ofOne: number | (() => number);
}

/** A budget that users wait for. */
export interface AdmissionLimits extends Budget {
  /** Maximum number of waiting requests per user. */
  readonly waiting: number;
  /** Maximum wait, in ms. */
  readonly waitMs: number;
  /** Returns the refusal for a request that waited too long. Default: 503, "too many requests are waiting". */
  readonly late?: () => Refusal;
}

/** A part of the budget that is in use. */
export interface Lease {
  /** Gives the part back. Must be called once. */
  release(): void;
}

interface Waiter {
  readonly amount: number;
  readonly begin: () => void;
}

interface User {
  used: number;
  readonly most: number | (() => number);
  /** In the order in which they arrived. */
  readonly waiters: Set<Waiter>;
}

/** Maximum number of users whose last turn is remembered while other users use the budget. */
const REMEMBERED = 1_000;

/** Counts how much of a budget each user uses. */
export class Usage {
  readonly #ofOne = new Map<string, number>();
  #used = 0;

  constructor(private readonly budget: Budget) {}

  /** Returns the amount that all users together use. */
  get used(): number {
    return this.#used;
  }

  /**
   * Counts an additional amount for a user; counts nothing if the amount doesn't fit.
   * @returns whether it fits
   */
  take(of: string, amount: number): boolean {
    const { total, ofOne } = this.budget;
    const own = (this.#ofOne.get(of) ?? 0) + amount;
    if (this.#used + amount > now(total) || own > now(ofOne)) return false;
    this.#used += amount;
    this.#ofOne.set(of, own);
    return true;
  }

  /** Gives some back. */
  give(of: string, amount: number): void {
    this.#used -= amount;
    const own = (this.#ofOne.get(of) ?? 0) - amount;
    if (own > 0) this.#ofOne.set(of, own);
    else this.#ofOne.delete(of);
  }
}

/**
 * Admits work. The next turn goes to the user that uses the least or, if several users use the same amount, to the one whose
 * last turn was longest ago. An amount that is larger than the total is admitted when nothing is in use; an amount that is
 * larger than its user's share is admitted when that user uses nothing.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #users = new Map<string, User>();
  /** The number of each user's last turn. */
  readonly #turns = new Map<string, number>();
  #given = 0;
  #used = 0;
  #waiting = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** Returns the number of requests that are waiting. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Runs work when it is the user's turn.
   * @param most the user's maximum at a time; default: `ofOne`
   * @throws the Refusal that `enter` throws, in which case the work is not started; otherwise, errors from the work
   */
  async run<T>(of: string, work: () => Promise<T>, most?: number): Promise<T> {
    const lease = this.#enterNow(of, 1, most) ?? (await this.enter(of, 1, most));
    try {
      return await work();
    } finally {
      lease.release();
    }
  }

  /**
   * Waits until there is room for an amount.
   * @param most the user's maximum at a time; default: `ofOne`
   * @throws Refusal `unavailable` (503) if too many of the user's requests are waiting, or if this request has waited too long
   */
  async enter(of: string, amount = 1, most?: number): Promise<Lease> {
    const lease = this.#enterNow(of, amount, most);
    if (lease !== undefined) return lease;
    const user = this.#user(of, most);
    await this.#place(of, user, amount);
    return this.#lease(of, user, amount);
  }

  /** Admits a request at once, unless another request must go first. */
  #enterNow(of: string, amount: number, most?: number): Lease | undefined {
    const user = this.#user(of, most);
    if (user.waiters.size > 0 || this.#isOtherFirst(of) || !this.#fits(user, amount)) return undefined;
    this.#begin(of, user, amount);
    return this.#lease(of, user, amount);
  }

  #user(of: string, most = this.#limits.ofOne): User {
    const known = this.#users.get(of);
    if (known !== undefined) return known;
    const user: User = { used: 0, most, waiters: new Set() };
    this.#users.set(of, user);
    return user;
  }

  #lease(of: string, user: User, amount: number): Lease {
    return { release: () => this.#end(of, user, amount) };
  }

  /** Returns whether another user's request is waiting for room in the total, although it fits its user's share. */
  #isOtherFirst(of: string): boolean {
    if (this.#waiting === 0) return false;
    const first = this.#first();
    return first !== undefined && first.of !== of;
  }

  #fits(user: User, amount: number): boolean {
    return (
      this.#fitsOwn(user, amount) && (this.#used === 0 || this.#used + amount <= now(this.#limits.total))
    );
  }

  #fitsOwn({ used, most }: User, amount: number): boolean {
    return used === 0 || used + amount <= now(most);
  }

  #begin(of: string, user: User, amount: number): void {
    user.used += amount;
    this.#used += amount;
    this.#given += 1;
    this.#turns.set(of, this.#given);
  }

  #place(of: string, user: User, amount: number): Promise<void> {
    const { waiting, waitMs, late = busy } = this.#limits;
    if (user.waiters.size >= waiting) throw busy();
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        clearTimeout(timeout);
        user.waiters.delete(waiter);
        this.#waiting -= 1;
      };
      const timeout = setTimeout(() => {
        leave();
        this.#forget(of, user);
        reject(late());
        this.#next();
      }, waitMs);
      const waiter: Waiter = {
        amount,
        begin: () => {
          leave();
          this.#begin(of, user, amount);
          resolve();
        },
      };
      user.waiters.add(waiter);
      this.#waiting += 1;
      this.#next();
    });
  }

  #end(of: string, user: User, amount: number): void {
    user.used -= amount;
    this.#used -= amount;
    this.#forget(of, user);
    this.#next();
  }

  #forget(of: string, { used, waiters }: User): void {
    if (used > 0 || waiters.size > 0) return;
    this.#users.delete(of);
    if (this.#users.size === 0 || this.#turns.size > REMEMBERED) this.#turns.clear();
  }

  /** Starts all requests whose turn it is. */
  #next(): void {
    while (this.#waiting > 0) {
      const first = this.#first();
      if (first === undefined || !this.#fits(first.user, first.waiter.amount)) return;
      first.waiter.begin();
    }
  }

  /** Returns the next request among those that fit their user's share. */
  #first(): { of: string; user: User; waiter: Waiter } | undefined {
    let found: { of: string; user: User; waiter: Waiter } | undefined;
    for (const [of, user] of this.#users) {
      const [waiter] = user.waiters;
      if (waiter === undefined || !this.#fitsOwn(user, waiter.amount)) continue;
      if (found === undefined || this.#isBefore(of, user, found)) found = { of, user, waiter };
    }
    return found;
  }

  #isBefore(of: string, { used }: User, found: { of: string; user: User }): boolean {
    if (used !== found.user.used) return used < found.user.used;
    return (this.#turns.get(of) ?? 0) < (this.#turns.get(found.of) ?? 0);
  }
}

function now(limit: number | (() => number)): number {
  return typeof limit === 'number' ? limit : limit();
}

function busy(): Refusal {
  return unavailable('too many requests are waiting; retry in a second');
}
