/**
 * Slows work down that yields to a user while that user works: one at a time, with a rest between two. So an application
 * that searches a record without pause leaves the record's owner most of the machine.
 */
import { unavailable } from '../../src/shared/refusal.ts';

/** Limits of work that yields. */
export interface PaceLimits {
  /** How long a user counts as working after its last work ended, in ms. */
  readonly activeMs: number;
  /** Time between two pieces of work that yield to a user who works, in ms. */
  readonly restMs: number;
  /** The maximum number of waiting users, per user to whom they yield. */
  readonly waiting: number;
  /** The maximum wait, in ms. */
  readonly waitMs: number;
}

/** A user's own work. */
interface Activity {
  running: number;
  /** When the last work ended, in ms. */
  ended: number;
}

/** Work that yields to one user. */
interface Lane {
  running: number;
  /** When the last work ended, in ms. */
  ended: number;
  readonly waiters: Set<() => void>;
  /** Begins the next. */
  timer: NodeJS.Timeout | undefined;
}

/** Users whose activity is remembered before those that are idle are forgotten. */
const REMEMBERED = 1_000;

/** Paces work that yields. */
export class Pace {
  readonly #limits: PaceLimits;
  readonly #now: () => number;
  readonly #users = new Map<string, Activity>();
  readonly #lanes = new Map<string, Lane>();

  /** @param now the clock, in ms; default: one that never goes back */
  constructor(limits: PaceLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Does a user's own work, at once. */
  async own<T>(user: string, work: () => Promise<T>): Promise<T> {
    const activity = this.#users.get(user) ?? { running: 0, ended: 0 };
    this.#users.set(user, activity);
    activity.running += 1;
    try {
      return await work();
    } finally {
      activity.running -= 1;
      activity.ended = this.#now();
      if (this.#users.size > REMEMBERED) this.#forget();
    }
  }

  /**
   * Does work that yields to a user: at once, unless the user works; then when it is its turn.
   * @throws Refusal `unavailable` (503) if too much of such work waits or the wait was too long; the work is then not begun
   */
  async yielding<T>(to: string, work: () => Promise<T>): Promise<T> {
    const lane = this.#lanes.get(to) ?? { running: 0, ended: 0, waiters: new Set(), timer: undefined };
    this.#lanes.set(to, lane);
    if (this.#isActive(to) && this.#isTaken(lane)) await this.#place(to, lane);
    lane.running += 1;
    try {
      return await work();
    } finally {
      lane.running -= 1;
      lane.ended = this.#now();
      if (lane.waiters.size > 0) this.#schedule(to, lane);
      else if (lane.running === 0) this.#close(to, lane);
    }
  }

  #isActive(user: string): boolean {
    const activity = this.#users.get(user);
    if (activity === undefined) return false;
    return activity.running > 0 || this.#now() - activity.ended < this.#limits.activeMs;
  }

  #isTaken({ running, ended, waiters }: Lane): boolean {
    return running > 0 || waiters.size > 0 || this.#now() - ended < this.#limits.restMs;
  }

  #place(to: string, lane: Lane): Promise<void> {
    const { waiting, waitMs } = this.#limits;
    if (lane.waiters.size >= waiting) throw busy();
    return new Promise((resolve, reject) => {
      const begin = (): void => {
        clearTimeout(timeout);
        lane.waiters.delete(begin);
        resolve();
      };
      const timeout = setTimeout(() => {
        lane.waiters.delete(begin);
        reject(busy());
      }, waitMs);
      lane.waiters.add(begin);
      if (lane.running === 0) this.#schedule(to, lane);
    });
  }

  /** Begins the next after a rest, or all if the user no longer works. */
  #schedule(to: string, lane: Lane): void {
    if (lane.timer !== undefined) return;
    const rest = Math.max(0, lane.ended + this.#limits.restMs - this.#now());
    lane.timer = setTimeout(() => {
      lane.timer = undefined;
      const [next] = lane.waiters;
      if (!this.#isActive(to)) for (const begin of [...lane.waiters]) begin();
      else if (lane.running === 0) next?.();
    }, rest);
  }

  /** Forgets a lane without work, except for the time of its rest. */
  #close(to: string, lane: Lane): void {
    if (this.#isActive(to)) return;
    clearTimeout(lane.timer);
    this.#lanes.delete(to);
  }

  #forget(): void {
    for (const user of [...this.#users.keys()]) if (!this.#isActive(user)) this.#users.delete(user);
    for (const [to, lane] of [...this.#lanes])
      if (lane.running === 0 && lane.waiters.size === 0) this.#close(to, lane);
  }
}

function busy(): Error {
  return unavailable('too many requests are waiting; retry in a second');
}
