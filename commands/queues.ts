/** Queues of work on one thing: within a process, work waits for the work that came before it. */

/** How long a command waits for its turn, in ms: as long as an append for its answer. */
export const TURN_MS = 10_000;

/** A queue for each name that is worked on. */
export class Queues {
  readonly #last = new Map<string, Promise<unknown>>();

  /** Does the work when all earlier work of the name has ended, well or badly. */
  take<T>(name: string, work: () => Promise<T>): Promise<T> {
    const run = (this.#last.get(name) ?? Promise.resolve()).then(work, work);
    this.#last.set(name, run);
    const leave = () => {
      if (this.#last.get(name) === run) this.#last.delete(name);
    };
    run.then(leave, leave);
    return run;
  }
}
