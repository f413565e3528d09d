/**
 * Prevents the same work from running more than once at a time: callers that ask for work that is already in progress get the
 * same result. Nothing is kept afterwards.
 */

/** Work under way. */
interface Flight<T> {
  readonly result: Promise<T>;
  /** One function per waiting caller; it returns true if that caller has gone. */
  readonly waiting: (() => boolean)[];
}

/** Work in progress, by key. */
export class Flights<T> {
  readonly #flights = new Map<string, Flight<T>>();

  /**
   * Does work, or waits for the same work if it is already in progress.
   * @param isGone returns true if nobody is waiting for this result any more
   * @param work can check whether all callers who were waiting for it have gone, and may then give up
   * @throws errors from the work
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
