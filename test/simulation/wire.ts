/** A process's connections to the database. They are slow, can break, and end with the process. */
import type { VirtualTime } from './virtual-time.ts';
import type { Weather } from './weather.ts';

/** The circumstances that everything in a run shares. */
export interface Surroundings {
  readonly time: VirtualTime;
  weather: Weather;
  /** True while the database is unavailable. */
  isAway: boolean;
}

/** How long a statement may still run after its connection broke, in ms. */
const LATE_MS = 300;

/** One process's connections. */
export class Wire {
  isAlive = true;
  /** Statements that have reached the database but haven't been carried out yet. */
  readonly #sent = new Set<() => void>();

  constructor(private readonly around: Surroundings) {}

  /**
   * Runs a transaction. The transaction may have run even if the promise is rejected. The promise never settles if the process
   * has died.
   */
  ask<T>(transaction: () => T): Promise<T> {
    const { time, weather, isAway } = this.around;
    const fate = time.chance();
    const there = this.#delay();
    return new Promise((resolve, reject) => {
      if (!this.isAlive) return;
      const fail = (): void => reject(new Error('Connection terminated unexpectedly'));
      const { lostBefore, lostAfter, late } = weather;
      if (isAway || fate < lostBefore) {
        this.#answer(there, fail);
        return;
      }
      const isLate = fate >= lostBefore && fate < lostBefore + late;
      const isLost = !isLate && fate < lostBefore + late + lostAfter;
      if (isLate) this.#answer(there, fail);
      this.#carryOut(there + (isLate ? time.chance() * LATE_MS : 0), () => {
        try {
          const result = transaction();
          if (!isLate) this.#answer(this.#delay(), isLost ? fail : () => resolve(result));
        } catch (error) {
          if (!isLate) this.#answer(this.#delay(), isLost ? fail : () => reject(error));
        }
      });
    });
  }

  /** Ends the process. The database carries out what has already reached it, but nobody receives the responses. */
  cut(): void {
    this.isAlive = false;
    for (const run of [...this.#sent]) run();
  }

  #carryOut(ms: number, run: () => void): void {
    const once = (): void => {
      if (this.#sent.delete(once)) run();
    };
    this.#sent.add(once);
    this.around.time.after(ms, once);
  }

  #answer(ms: number, run: () => void): void {
    this.around.time.after(ms, () => {
      if (this.isAlive) run();
    });
  }

  #delay(): number {
    const { time, weather } = this.around;
    const ms = 0.1 + time.chance() * 2;
    return time.chance() < weather.slow ? ms + time.chance() * weather.slowMs : ms;
  }
}
