/** A log that is put back from a backup under an instance that runs: from then on it takes no writes until it is restarted. */
import { later } from '../events/position.ts';
import { BEGINNING, type EventStore, type Position, Unavailable } from '../events/store.ts';
import { assertNotBehind, LogBehind } from './restored-log.ts';

/** How often it is looked without being asked, in ms. */
const LOOK_EVERY = 2_000;

/** What it works with. */
export interface LogWatchOptions {
  readonly store: EventStore;
  /** A pino logger fits. */
  readonly log: { error(details: object, message: string): void };
}

/**
 * Watches that the log does not end before what follows it. Once it did, it will seem whole again as soon as it has
 * been written to, and what is written below the read models' positions would never be shown: so it is not forgotten.
 */
export class LogWatch {
  readonly #options: LogWatchOptions;
  #behind: LogBehind | undefined;
  #timer: NodeJS.Timeout | undefined;
  #positions: () => ReadonlyMap<string, Position> = () => new Map();

  constructor(options: LogWatchOptions) {
    this.#options = options;
  }

  /** Looks now and then. @param positions how far each follower has come. */
  start(positions: () => ReadonlyMap<string, Position>): void {
    this.#positions = positions;
    this.#timer = setInterval(() => void this.check(positions()).catch(() => undefined), LOOK_EVERY).unref();
  }

  /** Ends that. */
  stop(): void {
    clearInterval(this.#timer);
  }

  /** @throws LogBehind, ever after the first time; Unavailable. */
  async check(positions: ReadonlyMap<string, Position>): Promise<void> {
    if (this.#behind !== undefined) throw this.#behind;
    try {
      await assertNotBehind(this.#options.store, positions);
    } catch (error) {
      if (error instanceof LogBehind && this.#behind === undefined) {
        this.#behind = error;
        this.#options.log.error({ ahead: error.ahead }, `no writes until a restart: ${error.message}`);
      }
      throw error;
    }
  }

  /** How far the furthest follower has come. */
  #furthest(): Position {
    return [...this.#positions().values()].reduce(later, BEGINNING);
  }

  /** The same store, which refuses appends and erasures as an absent one would once the log was seen to be behind. */
  guarded(): EventStore {
    const { store } = this.#options;
    const open = (): void => {
      if (this.#behind !== undefined) throw new Unavailable('the event log was restored under this instance');
    };
    return {
      append: async (stream, expected, events) => {
        open();
        const passed = this.#furthest();
        const result = await store.append(stream, expected, events);
        // Written before, by an attempt whose answer was lost; or into a log that is not the one that was followed.
        if (result.position <= passed) await this.check(this.#positions()).catch(open);
        return result;
      },
      read: (stream, options) => store.read(stream, options),
      subscribe: (options) => store.subscribe(options),
      head: () => store.head(),
      reached: () => store.reached(),
      erase: async (stream) => {
        open();
        return store.erase(stream);
      },
      ping: () => store.ping(),
      close: () => store.close(),
    };
  }
}
