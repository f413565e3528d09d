/** A log that is put back from a backup under an instance that runs: from then on it takes no writes until it is restarted. */
import type { Pool } from 'pg';
import { later } from '../events/position.ts';
import {
  type AppendResult,
  BEGINNING,
  type EventStore,
  type NewEvent,
  type Position,
  Unavailable,
} from '../events/store.ts';
import { type LogMark, noteMark, readMark } from './log-mark.ts';
import { assertHolds, assertNotBehind, LogBehind } from './restored-log.ts';

/** How often it is looked without being asked, and the newest event noted, in ms. */
const LOOK_EVERY = 2_000;

/** What it works with. */
export interface LogWatchOptions {
  readonly store: EventStore;
  /** Where the newest event is noted. */
  readonly pool: Pool;
  /** A pino logger fits. */
  readonly log: { error(details: object, message: string): void };
}

/**
 * Watches that the log does not end before what follows it, and still has the newest event that was followed. Once it did
 * not, it will seem whole again as soon as it has been written to, and what is written below the read models' positions
 * would never be shown: so it is not forgotten.
 */
export class LogWatch {
  readonly #options: LogWatchOptions;
  #behind: LogBehind | undefined;
  #timer: NodeJS.Timeout | undefined;
  #positions: () => ReadonlyMap<string, Position> = () => new Map();
  /** The newest event that this instance has appended or followed. */
  #mark: LogMark | undefined;
  #noted: Position = BEGINNING;
  /** Runs while it is in doubt whether appends go to the log that was followed. */
  #doubt: Promise<void> | undefined;

  constructor(options: LogWatchOptions) {
    this.#options = options;
  }

  /**
   * Holds the log against what was noted before this instance.
   * @throws LogBehind, Unavailable; errors of the database.
   */
  async begin(): Promise<void> {
    const mark = await readMark(this.#options.pool);
    if (mark === undefined) return;
    await assertHolds(this.#options.store, mark);
    this.#mark = mark;
    this.#noted = mark.position;
  }

  /** Looks now and then. @param positions how far each follower has come. */
  start(positions: () => ReadonlyMap<string, Position>): void {
    this.#positions = positions;
    this.#timer = setInterval(() => void this.#look().catch(() => undefined), LOOK_EVERY).unref();
  }

  /** Ends that, and notes the newest event once more. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    // Where the log or the database is away, what was noted before stays.
    if (this.#timer !== undefined) await this.#look().catch(() => undefined);
    this.#timer = undefined;
  }

  /** @throws LogBehind, ever after the first time; Unavailable. */
  async check(positions: ReadonlyMap<string, Position>): Promise<void> {
    if (this.#behind !== undefined) throw this.#behind;
    const mark = this.#mark;
    try {
      await assertNotBehind(this.#options.store, positions);
      if (mark !== undefined) await assertHolds(this.#options.store, mark);
    } catch (error) {
      if (error instanceof LogBehind && this.#behind === undefined) {
        this.#behind = error;
        this.#options.log.error({ ahead: error.ahead }, `no writes until a restart: ${error.message}`);
      }
      throw error;
    }
  }

  async #look(): Promise<void> {
    const mark = this.#mark;
    await this.check(this.#positions());
    if (mark === undefined || mark.position <= this.#noted) return;
    await noteMark(this.#options.pool, mark);
    this.#noted = mark.position;
  }

  /** The same store, which refuses appends and erasures as an absent one would once the log was seen to be another. */
  guarded(): EventStore {
    const { store } = this.#options;
    return {
      append: async (stream, expected, events) => {
        this.#assertOpen();
        const passed = this.#furthest();
        const result = await store.append(stream, expected, events);
        // Written before, by an attempt whose answer was lost; or into a log that is not the one that was followed.
        if (result.position <= passed) this.#question();
        await this.#doubt;
        this.#assertOpen();
        this.#followed(markOf(stream, result, events));
        return result;
      },
      read: (stream, options) => store.read(stream, options),
      subscribe: ({ handle, ...options }) =>
        store.subscribe({
          ...options,
          handle: async (batch) => {
            await handle(batch);
            this.#followed(batch.events.at(-1));
          },
        }),
      head: () => store.head(),
      reached: () => store.reached(),
      erase: async (stream) => {
        this.#assertOpen();
        return store.erase(stream);
      },
      ping: () => store.ping(),
      close: () => store.close(),
    };
  }

  /** How far the furthest follower has come. */
  #furthest(): Position {
    return [...this.#positions().values()].reduce(later, this.#mark?.position ?? BEGINNING);
  }

  #followed(event: LogMark | undefined): void {
    if (event === undefined || event.position <= (this.#mark?.position ?? BEGINNING)) return;
    const { id, stream, revision, position } = event;
    this.#mark = { id, stream, revision, position };
  }

  /** Until it is known which log it is, nothing that was appended to it is acknowledged. */
  #question(): void {
    const checking = this.check(this.#positions()).catch((error: unknown) => {
      if (!(error instanceof LogBehind)) throw error;
    });
    const doubt = Promise.all([this.#doubt, checking]).then(() => undefined);
    const settled = (): void => {
      if (this.#doubt === doubt) this.#doubt = undefined;
    };
    doubt.then(settled, settled);
    this.#doubt = doubt;
  }

  #assertOpen(): void {
    if (this.#behind !== undefined)
      throw new Unavailable('the event log was restored under this instance', { cause: this.#behind });
  }
}

function markOf(
  stream: string,
  { head, position }: AppendResult,
  events: readonly NewEvent[],
): LogMark | undefined {
  const last = events.at(-1);
  return last === undefined ? undefined : { id: last.id, stream, revision: head.revision, position };
}
