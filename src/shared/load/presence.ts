/** Knows who has requests under way in this process, so that long work can make room for others. */

interface Visit {
  running: number;
  /** When the last request ended, in ms. */
  ended: number;
}

/** How long somebody counts as present after the last request, in ms. */
const LINGERS_MS = 250;

/** The number of callers that are remembered; above it those who left are forgotten. */
const REMEMBERED = 1_000;

/** The callers that have requests under way. */
export class Presence {
  readonly #visits = new Map<string, Visit>();
  readonly #now: () => number;

  /** @param now the clock, in ms; default: one that never goes back */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Notes that a request begins. @param who its credential, or anything else that tells callers apart */
  enter(who: string): void {
    const visit = this.#visits.get(who);
    if (visit === undefined) this.#visits.set(who, { running: 1, ended: 0 });
    else visit.running += 1;
  }

  /** Notes that a request has ended. */
  leave(who: string): void {
    const visit = this.#visits.get(who);
    if (visit === undefined) return;
    visit.running -= 1;
    visit.ended = this.#now();
    if (this.#visits.size > REMEMBERED) this.#forget();
  }

  /** Tells whether more than one is present. */
  get several(): boolean {
    if (this.#visits.size > 1) this.#forget(2);
    return this.#visits.size > 1;
  }

  /** Forgets callers who left, until a number of present ones was seen. */
  #forget(enough = Number.POSITIVE_INFINITY): void {
    const since = this.#now() - LINGERS_MS;
    let present = 0;
    for (const [who, { running, ended }] of this.#visits) {
      if (running > 0 || ended > since) present += 1;
      else this.#visits.delete(who);
      if (present >= enough) return;
    }
  }
}

/** The callers that are present in this process: it has one event loop, which all share. */
export const presence = new Presence();
