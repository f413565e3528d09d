/**
 * Whether a read model may still be read. A write whose read models lag answers after ten seconds all the same, and
 * from then on no instance may serve a read that does not show it. So each instance notes the log's head every
 * second; a projection that has not passed a head within nine seconds of when that head could first have been there
 * is stale. What was noted at one look may have been appended right after the look before, so it is dated from that
 * one; and when no look has succeeded for nine seconds, nothing is known and everything counts as stale.
 */
import type { Position } from '#src/events/store.ts';

/** How long a read model may lag behind an event: less than the ten seconds after which a write answers anyway. */
export const FRESH_MS = 9_000;

/** What is known of the log and when. Times are milliseconds of one monotonic clock. */
export class Freshness {
  readonly #notes: { readonly since: number; readonly head: Position }[] = [];
  #last: number | undefined;

  /** Notes a head that was asked for at `at` (not when the answer came). */
  note(at: number, head: Position): void {
    this.#notes.push({ since: this.#last ?? Number.NEGATIVE_INFINITY, head });
    this.#last = at;
    // Of all heads that are due, the newest decides; heads before it can go.
    while (this.#notes[1] !== undefined && due(this.#notes[1], at)) this.#notes.shift();
  }

  /** Forgets everything: nothing is fresh until the next note. */
  forget(): void {
    this.#notes.length = 0;
    this.#last = undefined;
  }

  /** Whether a read model that has passed `position` shows everything it must at `now`. */
  isFresh(position: Position | undefined, now: number): boolean {
    if (position === undefined || this.#last === undefined || now - this.#last >= FRESH_MS) return false;
    let must: Position | undefined;
    for (const note of this.#notes) {
      if (!due(note, now)) break;
      must = note.head;
    }
    return must === undefined || position >= must;
  }
}

const due = (note: { readonly since: number }, now: number): boolean => now - note.since >= FRESH_MS;
