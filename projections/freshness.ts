/**
 * Decides whether a read model may be read. A write whose read models lag gets its response after ten seconds, and from then
 * on no instance may serve a read that doesn't show the write. Before responding, the writer notes the position in the
 * database (`late-writes.ts`). Each instance reads these notes every second, and refuses reads if it last read the notes more
 * than `LOOK_HOLDS_MS` ago; the writer waits longer than that between its note and its response. So the rule holds on every
 * instance, whether or not the instance can reach the event log. While the log is available, a read model is also refused if
 * it hasn't passed the position that the log's head had nine seconds ago, because such a read model has stopped. A head seen
 * in one look may have been appended right after the previous look, so it counts from the time of the previous look.
 */
import type { Position } from '#src/events/store.ts';

/** How far a read model may lag behind an event while the log is available. */
export const FRESH_MS = 9_000;
/**
 * How long the notes of late writes remain valid after an instance has read them. A writer waits longer than this between its
 * note and its response.
 */
export const LOOK_HOLDS_MS = 4_500;

/** Keeps what is known about the log and late writes, with the time of each look in ms on one monotonic clock. */
export class FreshnessRule {
  /** The head when the database connection began; it covers everything acknowledged before then. */
  #base: Position | undefined;
  #connected = Number.NEGATIVE_INFINITY;
  #looked: number | undefined;
  #late: ReadonlyMap<string, Position> = new Map();
  readonly #heads: { readonly since: number; readonly head: Position }[] = [];
  #lastHead: number | undefined;

  /** True if enough is known to serve a read. */
  get known(): boolean {
    return this.#base !== undefined && this.#looked !== undefined;
  }

  /** Records late writes by read model, as found by a look that began at `at`. */
  noteLate(at: number, late: ReadonlyMap<string, Position>): void {
    this.#looked = at;
    this.#late = late;
  }

  /** Records a head that was requested at `at` (which is not when the response arrived). */
  noteHead(at: number, head: Position): void {
    if (at < this.#connected) return;
    if (this.#base === undefined) this.#base = head;
    else this.#heads.push({ since: this.#lastHead ?? at, head });
    this.#lastHead = at;
    // Of the heads that are due, only the newest matters; earlier heads can be dropped.
    while (this.#heads[1] !== undefined && due(this.#heads[1], at)) this.#heads.shift();
  }

  /** Forgets heads: while the log is unavailable, the required position is unknown. */
  logLost(): void {
    this.#heads.length = 0;
    this.#lastHead = undefined;
  }

  /** Forgets everything: nothing is fresh until the log and the notes have been read after `now`. */
  forget(now: number): void {
    this.logLost();
    this.#connected = now;
    this.#base = undefined;
    this.#looked = undefined;
  }

  /** Returns true if a read model at `position` shows everything that it is required to show at `now`. */
  isFresh(model: string, position: Position | undefined, now: number): boolean {
    if (position === undefined || this.#base === undefined || this.#looked === undefined) return false;
    if (now - this.#looked >= LOOK_HOLDS_MS) return false;
    if (position < this.#base || position < (this.#late.get(model) ?? position)) return false;
    const must = this.#heads.findLast((head) => due(head, now));
    return must === undefined || position >= must.head;
  }
}

const due = (note: { readonly since: number }, now: number): boolean => now - note.since >= FRESH_MS;
