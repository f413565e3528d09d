/** Logs the start and the end of an outage, and one line per minute while it lasts. */

/** A pino logger fits. */
export interface OutageLog {
  warn(details: object, message: string): void;
}

/** The minimum time between two lines about an ongoing outage, in ms. */
const TELL_EVERY_MS = 60_000;

/** Logs the outages of one operation that is retried until it succeeds. */
export class Outage {
  #since: number | undefined;
  #told = 0;

  /** @param what the subject of each line, such as `the subscription to the event log`. */
  constructor(
    private readonly log: OutageLog | undefined,
    private readonly what: string,
  ) {}

  /** Reports a failure, which may be the first or a repeated one. */
  failed(error: unknown): void {
    const now = performance.now();
    if (this.#since === undefined) {
      this.#since = now;
      this.#tell(now, { reason: describeError(error) }, 'failed and will be retried');
    } else if (now - this.#told >= TELL_EVERY_MS) {
      this.#tell(now, { reason: describeError(error) }, `has failed for ${this.#seconds(now)} s`);
    }
  }

  /** Reports a success, which ends the outage if there was one. */
  works(): void {
    if (this.#since === undefined) return;
    const now = performance.now();
    this.#tell(now, {}, `resumed after ${this.#seconds(now)} s`);
    this.#since = undefined;
  }

  #seconds(now: number): number {
    return Math.round((now - (this.#since ?? now)) / 1_000);
  }

  #tell(now: number, details: object, says: string): void {
    this.#told = now;
    this.log?.warn(details, `${this.what} ${says}`);
  }
}

const describeError = (error: unknown): string => (error instanceof Error ? error.message : String(error));
