/**
 * Detects that a log was restored from a backup while an instance is running. The instance then refuses writes until it is
 * restarted.
 */
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
import { wrappedStore } from '../events/wrapped-store.ts';
import { type LogMark, noteMark, readMark } from './log-mark.ts';
import { assertHolds, assertNotBehind, LogBehind } from './restored-log.ts';

/** Interval between checks, and between saves of the newest event, in ms. */
const LOOK_EVERY = 2_000;

/** The watch's dependencies. */
export interface LogWatchOptions {
  readonly store: EventStore;
  /** The database in which the newest event is saved. */
  readonly pool: Pool;
  /** A pino logger fits. */
  readonly log: { error(details: object, message: string): void };
}

/**
 * Checks that the log doesn't end before its followers' positions, and that it still contains the newest followed event. A
 * failure is final: after new writes, the log would seem complete again, but events below the read models' positions would
 * never be shown.
 */
export class LogWatch {
  readonly #options: LogWatchOptions;
  #behind: LogBehind | undefined;
  #timer: NodeJS.Timeout | undefined;
  #positions: () => ReadonlyMap<string, Position> = () => new Map();
  /** The newest event that this instance has appended or followed. */
  #mark: LogMark | undefined;
  #noted: Position = BEGINNING;
  /** Pending while it is uncertain whether appends go to the log that was followed. */
  #doubt: Promise<void> | undefined;

  constructor(options: LogWatchOptions) {
    this.#options = options;
  }

  /**
   * Compares the log with the mark that was saved before this instance started.
   * @throws LogBehind, Unavailable; errors from the database
   */
  async begin(): Promise<void> {
    const mark = await readMark(this.#options.pool);
    if (mark === undefined) return;
    await assertHolds(this.#options.store, mark);
    this.#mark = mark;
    this.#noted = mark.position;
  }

  /**
   * Starts regular checks.
   * @param positions returns the positions of all followers
   */
  start(positions: () => ReadonlyMap<string, Position>): void {
    this.#positions = positions;
    this.#timer = setInterval(() => void this.#look().catch(() => undefined), LOOK_EVERY).unref();
  }

  /** Stops the checks and notes the newest event one last time. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    // If the log or the database is unreachable, the mark that was saved last remains.
    if (this.#timer !== undefined) await this.#look().catch(() => undefined);
    this.#timer = undefined;
  }

  /**
   * Checks the log.
   * @throws LogBehind, also on all later calls; Unavailable
   */
  async check(positions: ReadonlyMap<string, Position>): Promise<void> {
    if (this.#behind !== undefined) throw this.#behind;
    const mark = this.#mark;
    try {
      await assertNotBehind(this.#options.store, positions);
      if (mark !== undefined) await assertHolds(this.#options.store, mark);
    } catch (error) {
      if (error instanceof LogBehind && this.#behind === undefined) {
        this.#behind = error;
        this.#options.log.error(
          { ahead: error.ahead },
          `writes are refused until a restart: ${error.message}`,
        );
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

  /**
   * Returns a store that behaves like the given store. But if the log is found to have been replaced, it refuses appends and
   * erasures, as an unreachable store would.
   */
  guarded(): EventStore {
    const { store } = this.#options;
    return wrappedStore(store, {
      append: async (stream, expected, events) => {
        this.#assertOpen();
        const passed = this.#furthest();
        const result = await store.append(stream, expected, events);
        // Either an earlier attempt, whose answer was lost, wrote the events, or they were written to a log other than the one
        // that was followed.
        if (result.position <= passed) this.#question();
        await this.#doubt;
        this.#assertOpen();
        this.#followed(makeMark(stream, result, events));
        return result;
      },
      subscribe: ({ handle, ...options }) =>
        store.subscribe({
          ...options,
          handle: async (batch) => {
            await handle(batch);
            this.#followed(batch.events.at(-1));
          },
        }),
      erase: async (stream) => {
        this.#assertOpen();
        return store.erase(stream);
      },
    });
  }

  /** Returns the position of the follower that is furthest ahead. */
  #furthest(): Position {
    return [...this.#positions().values()].reduce(later, this.#mark?.position ?? BEGINNING);
  }

  #followed(event: LogMark | undefined): void {
    if (event === undefined || event.position <= (this.#mark?.position ?? BEGINNING)) return;
    const { id, stream, revision, position } = event;
    this.#mark = { id, stream, revision, position };
  }

  /** Stops acknowledging appends until the log has been checked. */
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
      throw new Unavailable('the event log was restored while this instance was running', {
        cause: this.#behind,
      });
  }
}

function makeMark(
  stream: string,
  { head, position }: AppendResult,
  events: readonly NewEvent[],
): LogMark | undefined {
  const last = events.at(-1);
  return last === undefined ? undefined : { id: last.id, stream, revision: head.revision, position };
}
