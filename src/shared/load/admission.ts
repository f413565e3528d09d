/**
 * Shares a scarce resource among its users, mostly projects: each has a share, its own queue, and a lease while it uses
 * some. So no user takes all of it, and none waits forever.
 */
import { type Refusal, unavailable } from '../refusal.ts';

/** A quantity that users share: places, events or bytes. */
export interface Budget {
  /** The quantity that all users together may use; a function, if that changes. */
  readonly total: number | (() => number);
  /** The quantity that one user may use; a function, if that changes. */
  readonly ofOne: number | (() => number);
}

/** A budget that users wait for. */
export interface AdmissionLimits extends Budget {
  /** Maximum number that waits, per user. */
  readonly waiting: number;
  /** Maximum wait, in ms. */
  readonly waitMs: number;
  /** Returns the refusal after a wait that was too long. Default: 503, "too many requests are waiting". */
  readonly late?: () => Refusal;
}

/** A part of the budget in use. */
export interface Lease {
  /** Gives it back. Called once. */
  release(): void;
}

interface Waiter {
  readonly amount: number;
  readonly begin: () => void;
}

interface User {
  used: number;
  readonly most: number | (() => number);
  /** In the order of their arrival. */
  readonly waiters: Set<Waiter>;
}

/** Users whose last turn is remembered while others use the budget. */
const REMEMBERED = 1_000;

/** Counts the parts of a budget that users use. */
export class Usage {
  readonly #ofOne = new Map<string, number>();
  #used = 0;

  constructor(private readonly budget: Budget) {}

  /** Returns the sum of all users. */
  get used(): number {
    return this.#used;
  }

  /** Counts more for a user, or nothing if it doesn't fit. @returns whether it does */
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
 * Admits work: the next goes to the user that uses least, and among equals to the one whose last turn is longest ago. An
 * amount larger than the total, or than its user's share, is admitted when nothing else of it is in use.
 */
export class Admission {
  readonly #limits: AdmissionLimits;
  readonly #users = new Map<string, User>();
  /** By user: the number of its last turn. */
  readonly #turns = new Map<string, number>();
  #given = 0;
  #used = 0;
  #waiting = 0;

  constructor(limits: AdmissionLimits) {
    this.#limits = limits;
  }

  /** Returns how many wait. */
  get waiting(): number {
    return this.#waiting;
  }

  /**
   * Does work when its user has a turn.
   * @param most the user's maximum at a time; default: `ofOne`
   * @throws Refusal of `enter`: the work is then not begun; rethrows errors of the work
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
   * @throws Refusal `unavailable` (503) if too many of the user wait, or the wait was too long
   */
  async enter(of: string, amount = 1, most?: number): Promise<Lease> {
    const lease = this.#enterNow(of, amount, most);
    if (lease !== undefined) return lease;
    const user = this.#user(of, most);
    await this.#place(of, user, amount);
    return this.#lease(of, user, amount);
  }

  /** Admits at once, if nobody has to go first. */
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

  /** Tells whether one that fits its user's share waits for room in the total. */
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

  /** Begins all whose turn it is. */
  #next(): void {
    while (this.#waiting > 0) {
      const first = this.#first();
      if (first === undefined || !this.#fits(first.user, first.waiter.amount)) return;
      first.waiter.begin();
    }
  }

  /** Returns the next of those that fit their user's share. */
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
