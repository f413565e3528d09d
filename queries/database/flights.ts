/**
 * Runs equal work once at a time: callers that ask for it meanwhile get the same result. Nothing is kept afterwards.
 */

/** Work under way. */
interface Flight<T> {
  readonly result: Promise<T>;
  /** One for each caller that waits for it: tells whether that caller has gone. */
  readonly waiting: (() => boolean)[];
}

/** Work under way, by key. */
export class Flights<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /**
   * Does work, or waits for the same work if it is under way.
   * @param isGone whether nobody waits for this answer anymore @param work learns whether all that wait for it have
   * gone, and may then give up @throws the errors of the work
   */
  join(key: string, isGone: () => boolean, work: (isGone: () => boolean) => Promise<T>): Promise<T> {
    const before = this.#flights.get(key);
    if (before !== undefined) {
      before.waiting.push(isGone);
      return before.result;
    }
    const waiting = [isGone];
    const result = this.#run(key, () => work(() => waiting.every((each) => each())));
    this.#flights.set(key, { result, waiting });
    return result;
  }

  async #run(key: string, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } finally {
      this.#flights.delete(key);
    }
  }
}
