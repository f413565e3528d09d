/** One read for all who ask while another is under way. */

/**
 * Shares reads of a value that changes. Each caller gets the result of a read that began after it asked, so it sees all
 * that was written before. At most one read is under way.
 */
export class SharedRead<T> {
  /** Settles when the read under way has ended. */
  #running: Promise<void> | undefined;
  /** The result of the read that begins then. */
  #next: Promise<T> | undefined;

  constructor(private readonly read: () => Promise<T>) {}

  /** Reads, or joins the next read. @throws errors of the read */
  get(): Promise<T> {
    if (this.#running === undefined) return this.#begin();
    this.#next ??= this.#running.then(() => {
      this.#next = undefined;
      return this.#begin();
    });
    return this.#next;
  }

  #begin(): Promise<T> {
    const reading = this.read();
    const end = (): void => {
      if (this.#next === undefined) this.#running = undefined;
    };
    this.#running = reading.then(end, end);
    return reading;
  }
}
