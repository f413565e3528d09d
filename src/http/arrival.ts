/** A minimum speed for a request's body, because the service keeps what has arrived in memory. */
import { Refusal } from '#src/shared/refusal.ts';

/** The least that must arrive in each span of time. */
export interface Arrival {
  /** Length of a span in ms. */
  readonly spanMs: number;
  /** Bytes of each span, once more than `largeBytes` have come; until then one byte is enough. */
  readonly bytes: number;
  readonly largeBytes: number;
}

/** About 17 kB a second beyond the first megabyte, so that slow large bodies don't occupy memory. */
const ARRIVAL: Arrival = { spanMs: 30_000, bytes: 500_000, largeBytes: 1_000_000 };

/** Watches one body arrive. */
export class ArrivalWatch {
  readonly #least: Arrival;
  readonly #tooSlow: (refusal: Refusal) => void;
  #timer: NodeJS.Timeout | undefined;
  #size = 0;
  /** Bytes that had arrived when the span began. */
  #before = 0;

  /** @param tooSlow called once with a refusal (400) if too little arrives in a span */
  constructor(tooSlow: (refusal: Refusal) => void, least: Arrival = ARRIVAL) {
    this.#tooSlow = tooSlow;
    this.#least = least;
  }

  /** Takes note of how many bytes have come in all. */
  came(size: number): void {
    this.#size = size;
    this.#timer ??= setTimeout(() => this.#spanEnds(), this.#least.spanMs);
  }

  /** Stops watching. */
  end(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #spanEnds(): void {
    this.#timer = undefined;
    const { spanMs, bytes, largeBytes } = this.#least;
    const needed = this.#before >= largeBytes ? bytes : 1;
    const arrived = this.#size - this.#before;
    if (arrived < needed) {
      const diagnostics = `${arrived} bytes of the body came within ${spanMs / 1_000} seconds; send at least ${needed}`;
      this.#tooSlow(new Refusal('malformed', { code: 'structure', diagnostics }, { Connection: 'close' }));
      return;
    }
    this.#before = this.#size;
    this.came(this.#size);
  }
}
