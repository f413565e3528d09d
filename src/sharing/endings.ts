/**
 * Writes the events that end expired grants and proposals that can no longer be accepted. Nothing waits for these events,
 * because tokens and decisions check the current time themselves. Every instance looks for items that have ended; if another
 * instance was faster, nothing is left to write.
 */
import type { Logger } from 'pino';
import type { Done, RequestContext } from '#commands/command.ts';
import type { Position } from '../events/store.ts';
import { IdSource, newRequestId, newUuid } from '../shared/ids.ts';
import { type Micros, nowMicros } from '../shared/time/time.ts';

/** How long an item that couldn't be ended is skipped, in ms, and the maximum number of skipped items. */
const APART_MS = 10 * 60_000;
const APART = 1_000;

/** Looks for items that have ended, until stopped. */
export class Endings<T> {
  /** Ids of items that failed → since when. They are skipped so that they don't delay other items. */
  readonly #apart = new Map<string, number>();
  #timer: NodeJS.Timeout | undefined;
  #looking: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(
    private readonly deps: {
      /** The word for the item in messages, such as `grant`. */
      readonly what: string;
      /** Interval between two checks, in ms. */
      readonly everyMs: number;
      /**
       * Reads a page of the items that have ended by the given time.
       * @param except ids that are left out
       */
      readonly find: (at: Micros, except: readonly string[]) => Promise<readonly T[]>;
      readonly idOf: (one: T) => string;
      /** Writes an item's end; does nothing if it has already been written. */
      readonly end: (by: RequestContext, one: T) => Promise<Done>;
      /** Waits until the read model shows a position. */
      readonly awaitModels: (position: Position) => Promise<unknown>;
      readonly log: Pick<Logger, 'warn'>;
    },
  ) {}

  /** Begins. */
  start(): void {
    const { everyMs, what, log } = this.deps;
    const next = (): void => {
      if (this.#stopped) return;
      this.#timer = setTimeout(() => {
        this.#looking = this.#look()
          .catch((error: unknown) =>
            log.warn(
              { err: error },
              `the search for each ${what} that has ended failed; it will be repeated`,
            ),
          )
          .finally(next);
      }, everyMs).unref();
    };
    next();
  }

  /** Stops after the work in progress. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#looking;
  }

  async #look(): Promise<void> {
    const { find, awaitModels } = this.deps;
    for (const [id, since] of this.#apart) {
      if (performance.now() - since > APART_MS) this.#apart.delete(id);
    }
    while (!this.#stopped && this.#apart.size < APART) {
      const page = await find(nowMicros(), [...this.#apart.keys()]);
      if (page.length === 0) return;
      const written = await Promise.all(page.map((one) => this.#end(one)));
      const positions = written.filter((position) => position !== undefined);
      // If no event was written, another instance was faster, and the rows stay unchanged for a short while.
      if (positions.length === 0) return;
      await awaitModels(positions.reduce((a, b) => (b > a ? b : a)));
    }
  }

  async #end(one: T): Promise<Position | undefined> {
    const { end, idOf, what, log } = this.deps;
    const by = {
      credential: { kind: 'system' as const },
      requestId: newRequestId(),
      ids: new IdSource(newUuid(), Date.now()),
      now: nowMicros,
    };
    try {
      return (await end(by, one)).wrote?.position;
    } catch (error) {
      this.#apart.set(idOf(one), performance.now());
      log.warn({ err: error, id: idOf(one) }, `a ${what} could not be ended; it will be tried again`);
      return undefined;
    }
  }
}
