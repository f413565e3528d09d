/**
 * Slows down work that must yield to a user while that user is active: such work runs one task at a time, with a rest in
 * between. So an application that searches a record constantly leaves most of the machine to the record's owner.
 */
import { unavailable } from '../../src/shared/refusal.ts';

/** Limits for work that yields to a user. */
export interface PaceLimits {
  /** How long a user counts as active after their last work ended, in ms. */
  readonly activeMs: number;
  /** Pause between two tasks that yield to an active user, in ms. */
  readonly restMs: number;
  /** The maximum number of waiting tasks per user to whom they yield. */
  readonly waiting: number;
  /** The maximum time that a task waits, in ms. */
  readonly waitMs: number;
}

/** A user's own work. */
interface Activity {
  running: number;
  /** When the last work ended, in ms. */
  ended: number;
}

/** Work that yields to a particular user. */
interface Lane {
  running: number;
  /** When the last work ended, in ms. */
  ended: number;
  readonly waiters: Set<() => void>;
  /** Begins the next. */
  timer: NodeJS.Timeout | undefined;
}

/** The number of users whose activity is remembered; beyond that, users who are idle are forgotten. */
const REMEMBERED = 1_000;

/** Slows down work that yields to active users. */
export class Pace {
  readonly #limits: PaceLimits;
  readonly #now: () => number;
  readonly #users = new Map<string, Activity>();
  readonly #lanes = new Map<string, Lane>();

  /** @param now the clock, in ms; default: a monotonic clock */
  constructor(limits: PaceLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Runs a user's own work immediately. */
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
   * Runs work that yields to a user: immediately if the user isn't active, and otherwise when its turn comes.
   * @throws Refusal `unavailable` (503) if too much such work is waiting or the wait was too long; the work then isn't started
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

  /** Starts the next task after a rest, or all tasks if the user is no longer active. */
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

  /** Forgets a lane that has no work, unless its user is active. */
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
