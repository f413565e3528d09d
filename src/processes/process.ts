/**
 * Runs processes that follow the log and finish what events began (an erasure, a transaction's directory entries). Each
 * process runs on only one instance. Its checkpoint moves only when work is done or parked, and its work can be repeated.
 */
import { setTimeout as delay } from 'node:timers/promises';
import {
  defer,
  exhaustMap,
  finalize,
  from,
  ignoreElements,
  merge,
  type Observable,
  retry,
  Subject,
  type Subscription,
  switchAll,
  takeUntil,
  tap,
  timer,
} from 'rxjs';
import { describeFailure } from '#src/database/failure.ts';
import { NewerEvent, requireKnownType } from '../events/newer.ts';
import { BEGINNING, type Position, Unavailable } from '../events/store.ts';
import type { ProcessDefinition, ProcessDeps, ProcessTimes } from './definition.ts';
import { askLeaderToSave, type Lead, tryToLead } from './lead.ts';
import { ParkedEvents } from './parked.ts';
import { isForOthers } from './passing.ts';
import { retryParked } from './retry-parked.ts';
import { EventWork } from './work-on-event.ts';

/** DDL. */
export const PROCESS_SQL = `
CREATE TABLE operations.process (
  name text PRIMARY KEY,
  position text NOT NULL
);`;

/** Minimum interval between two saves of an idle process's checkpoint, in ms. */
const SAVE_EVERY = 1000;
/** The maximum pause between two checks of the process's position, in ms. */
const LOOK_EVERY = 100;

/** Runs a process on the instance that holds its lock. */
export class Process {
  readonly parked: ParkedEvents;
  readonly #passed = new Subject<Position>();
  readonly #work: EventWork;
  readonly #times: Required<ProcessTimes>;
  #subscription: Subscription | undefined;
  /** Position that this instance's runner has reached; a later runner may repeat a little of the work. */
  #reached = BEGINNING;
  #saved = BEGINNING;
  #leads = false;
  #saving: NodeJS.Timeout | undefined;

  constructor(
    readonly definition: ProcessDefinition,
    readonly deps: ProcessDeps,
    times: ProcessTimes = {},
  ) {
    this.parked = new ParkedEvents(deps.pool);
    this.#times = {
      pauseMs: 1_000,
      hungMs: 6_000,
      firstPauseMs: 100,
      parkedEveryMs: 10_000,
      newerPauseMs: 30_000,
      patienceMs: 600_000,
      ...times,
    };
    this.#work = new EventWork(definition, deps, this.parked, this.#times);
  }

  /** Starts running the process; returns at once. */
  start(): void {
    this.#subscription ??= defer(() => this.#lead())
      .pipe(
        switchAll(),
        retry({
          delay: (error: unknown) => {
            if (error instanceof NewerEvent) return this.#leaveToNewer(error);
            if (!(error instanceof NotLeader))
              this.#warn(error, 'a process was interrupted and will continue');
            return timer(this.#times.pauseMs);
          },
        }),
      )
      .subscribe();
  }

  /** Stops after the current event. */
  stop(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
    clearTimeout(this.#saving);
    this.#saving = undefined;
  }

  /** True while this instance runs the process. */
  get leads(): boolean {
    return this.#leads;
  }

  /**
   * Waits until the process, on whichever instance it runs, has passed a position: all earlier events are then done or parked.
   * @returns false after `patience` ms
   */
  async hasPassed(position: Position, patience: number): Promise<boolean> {
    const deadline = Date.now() + patience;
    for (let look = 5; ; look = Math.min(look * 2, LOOK_EVERY)) {
      if (this.#reached >= position || (!this.#leads && (await this.#load()) >= position)) return true;
      const left = deadline - Date.now();
      if (left <= 0) return false;
      if (!this.#leads) await askLeaderToSave(this.deps.pool, this.definition.name);
      await this.#news(Math.min(left, this.#leads ? LOOK_EVERY : look));
    }
  }

  /**
   * Waits until the work for the event at a position is done.
   * @returns false after `patience` ms
   */
  async hasDone(position: Position, patience: number): Promise<boolean> {
    const deadline = Date.now() + patience;
    if (!(await this.hasPassed(position, patience))) return false;
    while (await this.parked.holds(this.definition.name, position)) {
      if (Date.now() >= deadline) return false;
      await delay(LOOK_EVERY);
    }
    return true;
  }

  /** Resolves when this instance's runner has moved, at the latest after `ms`. */
  #news(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const done = (): void => {
        subscription.unsubscribe();
        clearTimeout(limit);
        resolve();
      };
      const limit = setTimeout(done, ms);
      const subscription = this.#passed.subscribe(done);
    });
  }

  /** The lead is free when this is called. It stays free for a while, so that an instance of a newer version can take it. */
  #leaveToNewer(error: NewerEvent): Observable<unknown> {
    const { name } = this.definition;
    this.deps.newer?.note(name, error);
    this.deps.log.error(
      { process: name, error: error.message },
      'this instance is too old to continue a process; a newer instance takes over, if one is running',
    );
    return timer(this.#times.newerPauseMs);
  }

  async #lead(): Promise<Observable<unknown>> {
    const { name, prefixes, types } = this.definition;
    const { databaseUrl, logAnswers = () => true } = this.deps;
    if (!logAnswers()) throw new NotLeader();
    const lead = await tryToLead({
      databaseUrl,
      name,
      hungMs: this.#times.hungMs,
      onAsked: () => void this.#save(),
    });
    if (lead === undefined) throw new NotLeader();
    try {
      const after = await this.#load();
      await this.parked.hurry(name);
      if (this.#reached < after) this.#reached = after;
      this.#leads = true;
      this.definition.begin?.();
      const following = this.deps.store.subscribe({
        name: `process ${name}`,
        after,
        ...(prefixes === undefined ? {} : { prefixes }),
        handle: async ({ events, position }) => {
          const own = events.filter((event) => types.includes(event.type));
          for (const event of events) if (!types.includes(event.type)) requireKnownType(event);
          const worked = await this.#work.onAll(own, lead);
          if (events.length > 0) this.deps.newer?.clear(name);
          await this.#advance(position, worked);
        },
      });
      const retrying = timer(0, this.#times.parkedEveryMs).pipe(
        exhaustMap(() => this.#retryParked(lead)),
        ignoreElements(),
      );
      const answered = timer(0, LOOK_EVERY).pipe(
        tap(() => {
          if (!logAnswers()) throw new Unavailable("the event store doesn't answer this instance");
        }),
        ignoreElements(),
      );
      return merge(following, retrying, answered).pipe(
        takeUntil(from(lead.lost)),
        finalize(() => {
          this.#leads = false;
          lead.release();
        }),
      );
    } catch (error) {
      this.#leads = false;
      lead.release();
      throw error;
    }
  }

  async #retryParked({ holding }: Lead): Promise<void> {
    try {
      const { parked, definition, deps } = this;
      const work = { parked, act: definition.act, store: deps.store, log: deps.log };
      for (const event of await parked.due(definition.name)) {
        // An event that always fails with temporary errors must not delay the events after it.
        await holding(retryParked(work, event)).catch((error: unknown) => {
          if (isForOthers(error)) throw error;
          this.#warnOfRetry(error);
        });
      }
    } catch (error) {
      if (error instanceof NewerEvent) throw error;
      this.#warnOfRetry(error);
    }
  }

  #warnOfRetry(error: unknown): void {
    this.#warn(error, 'parked events could not be retried; they will be retried later');
  }

  async #advance(position: Position, worked: boolean): Promise<void> {
    this.#saving ??= setTimeout(() => void this.#save(), SAVE_EVERY).unref();
    this.#reached = position;
    if (worked) await this.#save();
    this.#passed.next(position);
  }

  async #save(): Promise<void> {
    clearTimeout(this.#saving);
    this.#saving = undefined;
    const reached = this.#reached;
    if (reached <= this.#saved) return;
    try {
      await this.deps.pool.query(
        `INSERT INTO operations.process (name, position) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET position = excluded.position WHERE process.position < excluded.position`,
        [this.definition.name, reached],
      );
      this.#saved = reached;
    } catch (error) {
      this.#warn(error, "a process's position was not saved; it will be saved with the next events");
    }
  }

  async #load(): Promise<Position> {
    const { rows } = await this.deps.pool.query<{ position: Position }>({
      name: 'process-load',
      text: 'SELECT position FROM operations.process WHERE name = $1',
      values: [this.definition.name],
    });
    return rows[0]?.position ?? BEGINNING;
  }

  #warn(error: unknown, message: string): void {
    this.deps.log.warn({ process: this.definition.name, reason: describeFailure(error) }, message);
  }
}

class NotLeader extends Error {
  override readonly name = 'NotLeader';
}
