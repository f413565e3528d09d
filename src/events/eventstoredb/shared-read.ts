/** Shares one read among all callers that ask while another read is in progress. */

/**
 * Shares reads of a value that changes. Each caller gets the result of a read that began after the caller asked, so it sees
 * everything written before. At most one read is in progress at a time.
 */
export class SharedRead<T> {
  /** Settles when the read in progress has ended. */
  #running: Promise<void> | undefined;
  /** The result of the read that begins after the one in progress. */
  #next: Promise<T> | undefined;

  constructor(private readonly read: () => Promise<T>) {}

  /** Reads, or joins the next read. @throws errors from the read */
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
