/**
 * Slows down work that has to give way to a user while that user is active: one piece at a time, with a rest in between. So an
 * application that searches a record constantly leaves most of the machine to the record's owner.
 */
import { unavailable } from '../../src/shared/refusal.ts';

/** Limits for work that gives way. */
export interface PaceLimits {
  /** How long a user counts as active after their last work ended, in ms. */
  readonly activeMs: number;
  /** Time between two pieces of work that give way to an active user, in ms. */
  readonly restMs: number;
  /** The maximum number of waiting pieces of work, per user to whom they give way. */
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

/** Work that gives way to a particular user. */
interface Lane {
  running: number;
  /** When the last work ended, in ms. */
  ended: number;
  readonly waiters: Set<() => void>;
  /** Begins the next. */
  timer: NodeJS.Timeout | undefined;
}

/** The number of users whose activity is remembered before idle ones are forgotten. */
const REMEMBERED = 1_000;

/** Slows down work that gives way to active users. */
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

  /** Does a user's own work immediately. */
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
   * Does work that gives way to a user: immediately, unless the user is active; then when its turn comes.
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

  /** Starts the next piece of work after a rest, or all of them if the user is no longer active. */
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

  /** Forgets a lane without work, unless its user is active. */
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
