/** Stops the parts of a service in the reverse order of their start, each with a time limit. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Logger } from 'pino';

/**
 * A signal that reaches the process twice within this time counts once, because npm passes on the Ctrl-C that the terminal has
 * already sent.
 */
const SAME_SIGNAL_MS = 1_000;

/** Thrown during startup when a signal has asked the service to stop. */
export class Stopping extends Error {
  override readonly name = 'Stopping';
}

/** A part of the running service and how to stop it. */
interface Part {
  readonly name: string;
  /** How long stopping the part may take, in ms. */
  readonly limit: number;
  readonly end: () => Promise<void>;
}

/** Keeps track of the parts of a service from startup to shutdown. */
export class Shutdown {
  readonly #parts: Part[] = [];
  /** When a signal asked the service to stop. */
  #asked: number | undefined;
  #running = false;
  #ending = false;
  readonly #abandons: (() => void)[] = [];

  /**
   * @param startingMs how long startup may continue after a signal has asked the service to stop; startup may be waiting for
   *   something that never comes
   */
  constructor(
    private readonly log: Logger,
    private readonly startingMs: number,
  ) {}

  /** True while the parts are being stopped. */
  get ending(): boolean {
    return this.#ending;
  }

  /**
   * Remembers how to stop a part that has just been started.
   * @throws Stopping if a signal has arrived: startup then ends here, and the code that catches this error calls `end`
   */
  add(name: string, limit: number, end: () => Promise<void>): void {
    this.#parts.push({ name, limit, end });
    if (this.#asked !== undefined) throw new Stopping();
  }

  /**
   * Marks startup as complete; from now on, a signal stops the service at once.
   * @throws Stopping as `add` does
   */
  started(): void {
    this.#running = true;
    if (this.#asked !== undefined) throw new Stopping();
  }

  /** Registers a function to run on a second signal, before the process exits; the function must not wait for anything. */
  onAbandon(abandon: () => void): void {
    this.#abandons.push(abandon);
  }

  /**
   * Stops the service in order on SIGTERM and SIGINT, with exit code 0. During startup, a signal ends startup at its next
   * step, or after `startingMs`. A second signal stops the service at once. An uncaught error is logged and stops the service
   * with exit code 1.
   */
  listen(): void {
    for (const signal of ['SIGTERM', 'SIGINT'] as const) {
      process.on(signal, () => this.#onSignal(signal));
    }
    process.on('uncaughtException', (err) => {
      this.log.fatal({ err }, 'uncaught exception');
      void this.end(1);
    });
    // The event loop is empty. This is a bug, and must not look like an orderly exit.
    process.once('beforeExit', () => {
      this.log.fatal('the event loop is empty: the service stopped working');
      void this.end(1);
    });
    // The program that reads the output may have exited (`npm start | head -1`); the service continues.
    for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined);
  }

  #onSignal(signal: NodeJS.Signals): void {
    if (this.#asked === undefined) {
      this.#asked = Date.now();
      this.log.info({ signal }, 'stopping');
      if (this.#running) void this.end(0);
      else setTimeout(() => void this.end(0), this.startingMs);
    } else if (Date.now() - this.#asked > SAME_SIGNAL_MS) {
      for (const abandon of this.#abandons) abandon();
      process.exit(1);
    }
  }

  /** Stops every part, then exits the process with `code`, or with 1 if a part didn't stop properly. */
  async end(code: number): Promise<void> {
    if (this.#ending) return;
    this.#ending = true;
    let orderly = true;
    for (const part of this.#parts.reverse()) orderly = (await this.#endPart(part)) && orderly;
    process.exit(orderly ? code : 1);
  }

  async #endPart(part: Part): Promise<boolean> {
    const over = new AbortController();
    // The timer also keeps the process alive when nothing else does.
    const late = pause(part.limit, 'late', { signal: over.signal }).catch(() => undefined);
    try {
      if ((await Promise.race([part.end(), late])) !== 'late') return true;
      this.log.error({ part: part.name, limit_ms: part.limit }, 'did not stop in time');
    } catch (err) {
      this.log.error({ err, part: part.name }, 'failed to stop');
    } finally {
      over.abort();
    }
    return false;
  }
}
