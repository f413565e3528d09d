/** What the log hears of an outage: that it began, once a minute that it lasts, and that it ended. */

/** A pino logger fits. */
export interface OutageLog {
  warn(details: object, message: string): void;
}

/** At most one line in this time says that an outage lasts, in ms. */
const TELL_EVERY_MS = 60_000;

/** One thing that may fail for a while, tried again meanwhile. */
export class Outage {
  #since: number | undefined;
  #told = 0;

  /** @param what the subject of each line: `the subscription to the event log`. */
  constructor(
    private readonly log: OutageLog | undefined,
    private readonly what: string,
  ) {}

  /** It failed, once or again. */
  failed(error: unknown): void {
    const now = performance.now();
    if (this.#since === undefined) {
      this.#since = now;
      this.#tell(now, { reason: reasonOf(error) }, 'failed and will be retried');
    } else if (now - this.#told >= TELL_EVERY_MS) {
      this.#tell(now, { reason: reasonOf(error) }, `has failed for ${this.#seconds(now)} s`);
    }
  }

  /** It works: the end of the outage, if there was one. */
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

const reasonOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));
