/** How far a filling is ahead of the read models: the next append is decided while the ones before it become visible. */
import type { Position } from '#src/events/store.ts';

/** Events that the read models may have before them, at most: others wait behind no more than these. */
export const MOST_AHEAD = 10;

/** Appends that are not yet known to be visible, oldest first. */
export class Ahead {
  readonly #appends: { readonly position: Position; readonly events: number }[] = [];
  #events = 0;

  /** @param visible waits until every read model has passed a position. */
  constructor(private readonly visible: (position: Position) => Promise<void>) {}

  /** Waits until an append of so many events may follow. One that is larger than the bound follows on none. */
  async room(events: number): Promise<void> {
    while (this.#events + events > MOST_AHEAD && (await this.#first()));
  }

  /** Notes an append that is done. */
  add(position: Position, events: number): void {
    this.#appends.push({ position, events });
    this.#events += events;
  }

  /** Waits until all of them are visible. */
  async drain(): Promise<void> {
    while (await this.#first());
  }

  /** Waits for the oldest. @returns false when there is none */
  async #first(): Promise<boolean> {
    const first = this.#appends.shift();
    if (first === undefined) return false;
    this.#events -= first.events;
    await this.visible(first.position);
    return true;
  }
}
