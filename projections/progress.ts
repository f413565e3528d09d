/**
 * Tracks which position each projection has reached: it learns the positions immediately from a runner in this process,
 * through LISTEN from other runners, and by reading the checkpoints every second and after each reconnection. It also tracks
 * whether the event log is available.
 */
import type pg from 'pg';
import { exhaustMap, merge, Observable, retry, type Subscription, switchMap, timer } from 'rxjs';
import { BEGINNING, type EventStore, type Position } from '#src/events/store.ts';
import { withTimeout } from '#src/shared/load/with-timeout.ts';
import { CHANNEL, countListeners, LISTENER, readCheckpoints, unfilled } from './checkpoint.ts';
import { FreshnessRule } from './freshness.ts';
import { Pauses } from './pauses.ts';
import type { Projection } from './projection.ts';
import { closeSession, openSession } from './session.ts';

interface Waiter {
  readonly position: Position;
  readonly names: readonly string[];
  readonly settle: (passed: boolean) => void;
}

/** The other processes on this machine: processes on one machine notify each other directly, without the database. */
export interface OtherProcesses {
  /** Tells the other processes a position that a projection has reached. */
  readonly passed: (name: string, position: Position) => void;
  /** Tells the other processes that a request is waiting for a position. */
  readonly wanted: (names: readonly string[], position: Position) => void;
}

/** How often the log's head and the checkpoints are read, in ms. */
const LOOK_MS = 1_000;
/** Timeout for the database, in ms. */
const DATABASE_MS = 4_000;
/** Timeout for reading the log's head, in ms, and the number of failures after which the log is considered unavailable. */
const LOG_MS = 2_500;
const LOG_FAILURES = 2;

/** The progress of all projections, one object per process. */
export class Progress {
  readonly #names: readonly string[];
  /** Projections whose tables were made by an earlier version of the software, and lack columns that this version reads. */
  readonly #earlier = new Set<string>();
  /** Projections whose tables were missing or unfilled at the last look. */
  #missing: readonly string[] = [];
  readonly #passed = new Map<string, Position>();
  /** Projections whose checkpoints were behind their last known positions at the last look. */
  readonly #behind = new Set<string>();
  readonly #waiters = new Set<Waiter>();
  readonly #pauses = new Pauses((name) => this.#passed.get(name));
  readonly #freshness = new FreshnessRule();
  #alone = false;
  /** The number of changes that have become known, so that the result of a query in progress doesn't undo them. */
  #changes = 0;
  #following: Subscription | undefined;
  /** The number of consecutive queries that the log hasn't answered. */
  #unanswered = 0;
  #onFirstLook: (() => void) | undefined;

  constructor(
    private readonly deps: {
      readonly store: Pick<EventStore, 'head'>;
      readonly databaseUrl: string;
      readonly projections: readonly Pick<Projection, 'name' | 'version'>[];
      /** The other processes on this machine. Default: none. */
      readonly others?: OtherProcesses | undefined;
      /** False if a different process on this machine listens for positions from other machines. Default: true. */
      readonly listens?: boolean;
      /**
       * Reads the positions that read models must have passed because of writes that have already been acknowledged. Default:
       * none.
       */
      readonly lateWrites?: (client: pg.ClientBase) => Promise<ReadonlyMap<string, Position>>;
    },
  ) {
    this.#names = deps.projections.map(({ name }) => name);
  }

  /** Starts tracking; resolves once the log's head and every checkpoint have been read. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#onFirstLook = resolve;
      this.#following = merge(this.#follow(), this.#askLog()).subscribe();
    });
  }

  /** Stops; waits that are pending end with false. */
  stop(): void {
    this.#following?.unsubscribe();
    for (const waiter of [...this.#waiters]) waiter.settle(false);
    this.#pauses.clear();
  }

  /** Returns a projection's position; undefined while it is unknown. */
  passed(name: string): Position | undefined {
    return this.#passed.get(name);
  }

  /** Returns all known positions. */
  positions(): ReadonlyMap<string, Position> {
    return this.#passed;
  }

  /**
   * True if no other instance was listening at the last look. (A newly started instance reads the checkpoints itself, every
   * second.)
   */
  get alone(): boolean {
    return this.#alone;
  }

  /** True while the event log is available: false after two consecutive failures to read its head. */
  get logAnswers(): boolean {
    return this.#unanswered < LOG_FAILURES;
  }

  /** Records a new position, reported by the local runner after a commit or by another machine. */
  advance(name: string, position: Position): void {
    this.deps.others?.passed(name, position);
    this.hear(name, position);
  }

  /** Records that a request in another process is waiting for a position. */
  want(name: string, position: Position): void {
    this.#pauses.want(name, position);
  }

  /** Records a position reported by another process on this machine. */
  hear(name: string, position: Position): void {
    if ((this.#passed.get(name) ?? BEGINNING) >= position && this.#passed.has(name)) return;
    this.#changes += 1;
    this.#passed.set(name, position);
    for (const waiter of [...this.#waiters]) {
      if (waiter.names.includes(name) && this.#hasPassed(waiter)) waiter.settle(true);
    }
  }

  /**
   * Waits until projections have passed a position.
   * @param timeoutMs gives up after this time, or immediately if one of the projections has no tables
   * @returns true if they have passed it
   */
  waitFor(position: Position, names: readonly string[], timeoutMs: number): Promise<boolean> {
    if (this.#hasPassed({ position, names })) return Promise.resolve(true);
    if (this.#lacksOneOf(names)) return Promise.resolve(false);
    return new Promise((resolve) => {
      const timeout = setTimeout(() => waiter.settle(false), timeoutMs);
      const waiter: Waiter = {
        position,
        names,
        settle: (passed) => {
          clearTimeout(timeout);
          this.#waiters.delete(waiter);
          resolve(passed);
        },
      };
      this.#waiters.add(waiter);
      this.#pauses.end(names);
      this.deps.others?.wanted(names, position);
    });
  }

  /** Resolves after the given number of ms, or as soon as a request waits for the projection. */
  pause(name: string, ms: number): Promise<void> {
    const isAwaited = [...this.#waiters].some(({ names }) => names.includes(name));
    return isAwaited ? Promise.resolve() : this.#pauses.begin(name, ms);
  }

  /**
   * Returns the projections that must not be read: projections that don't show an acknowledged write, have lagged for a long
   * time, are at an unknown position, or have missing or outdated tables.
   */
  stale(): string[] {
    const now = performance.now();
    return this.#names.filter(
      (name) =>
        this.#missing.includes(name) ||
        this.#earlier.has(name) ||
        !this.#freshness.isFresh(name, this.#passed.get(name), now),
    );
  }

  /** Returns the projections whose tables are missing or unfilled; they count as stale too. */
  missing(): readonly string[] {
    return this.#missing;
  }

  #lacksOneOf(names: readonly string[]): boolean {
    return this.#missing.length > 0 && this.#missing.some((name) => names.includes(name));
  }

  #hasPassed({ position, names }: Pick<Waiter, 'position' | 'names'>): boolean {
    return names.every((name) => {
      const passed = this.#passed.get(name);
      return passed !== undefined && passed >= position;
    });
  }

  /** Listens and reads on one connection, which is reopened whenever it breaks. */
  #follow(): Observable<void> {
    return this.#connect().pipe(
      switchMap((client) => timer(0, LOOK_MS).pipe(exhaustMap(() => this.#look(client)))),
      retry({
        delay: (_error, tries) => timer(Math.min(50 * 2 ** (tries - 1), 2_000)),
        resetOnSuccess: true,
      }),
    );
  }

  /** Emits a listening connection; fails when the connection ends. */
  #connect(): Observable<pg.Client> {
    return new Observable((subscriber) => {
      const lost = () =>
        subscriber.error(new Error("the connection that listens for the projections' progress ended"));
      const { databaseUrl, listens = true } = this.deps;
      const name = listens ? LISTENER : 'checkpoints';
      const opening = openSession(databaseUrl, { name }, lost).then(async (client) => {
        if (listens) {
          client.on('notification', ({ payload = '' }) => this.#heard(payload));
          await client.query(`listen ${CHANNEL}`);
        }
        subscriber.next(client);
        return client;
      });
      opening.catch((error: unknown) => subscriber.error(error));
      return () => {
        // After a database crash, a checkpoint may be behind its last known position.
        this.#passed.clear();
        this.#pauses.clear();
        this.#freshness.forget(performance.now());
        opening.then(closeSession, () => undefined);
      };
    });
  }

  #heard(payload: string): void {
    const [name = '', position = ''] = payload.split(' ');
    if (this.#names.includes(name)) this.advance(name, position as Position);
  }

  /** Queries the log every second for its end. */
  #askLog(): Observable<void> {
    return timer(0, LOOK_MS).pipe(
      exhaustMap(async () => {
        const at = performance.now();
        try {
          const head = await withTimeout(LOG_MS, this.deps.store.head());
          this.#unanswered = 0;
          this.#freshness.noteHead(at, head);
          this.#looked();
        } catch {
          this.#unanswered += 1;
          if (!this.logAnswers) this.#freshness.logLost();
        }
      }),
    );
  }

  /** Reads the checkpoints and notes. Fails if the database doesn't respond. */
  async #look(client: pg.Client): Promise<void> {
    const at = performance.now();
    const changes = this.#changes;
    const { lateWrites = async () => new Map<string, Position>() } = this.deps;
    const [checkpoints, late] = await withTimeout(
      DATABASE_MS,
      Promise.all([readCheckpoints(client, this.#names), lateWrites(client)]),
    );
    const undisturbed = changes === this.#changes;
    this.#miss(unfilled(this.#names, checkpoints));
    for (const { name, version } of this.deps.projections) {
      if ((checkpoints.get(name)?.version ?? version) < version) this.#earlier.add(name);
      else this.#earlier.delete(name);
    }
    for (const [name, { position }] of checkpoints) {
      if (this.#missing.includes(name)) continue;
      const isBehind = position < (this.#passed.get(name) ?? BEGINNING);
      // A runner moves the checkpoint past events that its projection doesn't process with a short delay. So only a checkpoint
      // that stays behind has really gone back.
      if (isBehind && undisturbed && this.#behind.has(name)) this.#passed.delete(name);
      if (isBehind) this.#behind.add(name);
      else this.#behind.delete(name);
      this.hear(name, position);
    }
    this.#freshness.noteLate(at, late);
    this.#alone = (await withTimeout(DATABASE_MS, countListeners(client))) <= 1;
    this.#looked();
  }

  /** Forgets projections without tables, and ends all waits for them. */
  #miss(names: readonly string[]): void {
    this.#missing = names;
    for (const name of names) this.#passed.delete(name);
    for (const waiter of [...this.#waiters]) if (this.#lacksOneOf(waiter.names)) waiter.settle(false);
  }

  #looked(): void {
    if (this.#freshness.known) this.#onFirstLook?.();
  }
}
