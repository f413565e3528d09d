/**
 * Tracks how far each projection is: at once from a runner in this process, by LISTEN from other runners, and by
 * reading the checkpoints every second and after each reconnection. It also tracks whether the event log answers.
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

/** Processes of one machine tell each other at once, without the database. */
export interface OtherProcesses {
  /** Tells them a position. */
  readonly passed: (name: string, position: Position) => void;
  /** Tells them that a request waits for a position. */
  readonly wanted: (names: readonly string[], position: Position) => void;
}

/** Interval of reading the log's head and the checkpoints. */
const LOOK_MS = 1_000;
/** Timeout for the database. */
const DATABASE_MS = 4_000;
/** Timeout for reading the log's head, and the number of failures after which the log counts as unreachable. */
const LOG_MS = 2_500;
const LOG_FAILURES = 2;

/** Progress of all projections, one object per process. */
export class Progress {
  readonly #names: readonly string[];
  /** Projections whose tables belong to an earlier version of the software: they lack columns that this one reads. */
  readonly #earlier = new Set<string>();
  /** Projections with missing or unfilled tables, as of the last look. */
  #missing: readonly string[] = [];
  readonly #passed = new Map<string, Position>();
  /** Projections whose checkpoints were behind what was known of them at the last look. */
  readonly #behind = new Set<string>();
  readonly #waiters = new Set<Waiter>();
  readonly #pauses = new Pauses((name) => this.#passed.get(name));
  readonly #freshness = new FreshnessRule();
  #alone = false;
  /** Counts the changes that became known, so that an answer in progress does not undo them. */
  #changes = 0;
  #following: Subscription | undefined;
  /** Questions in a row that the log didn't answer. */
  #unanswered = 0;
  #onFirstLook: (() => void) | undefined;

  constructor(
    private readonly deps: {
      readonly store: Pick<EventStore, 'head'>;
      readonly databaseUrl: string;
      readonly projections: readonly Pick<Projection, 'name' | 'version'>[];
      /** The other processes of this machine. Default: none. */
      readonly others?: OtherProcesses | undefined;
      /** False if another process of this machine listens for the positions of other machines. Default: true. */
      readonly listens?: boolean;
      /** Reads which positions read models must have passed, for writes that were answered before. Default: none. */
      readonly lateWrites?: (client: pg.ClientBase) => Promise<ReadonlyMap<string, Position>>;
    },
  ) {
    this.#names = deps.projections.map(({ name }) => name);
  }

  /** Starts following; resolves once the log and every checkpoint have been looked at. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#onFirstLook = resolve;
      this.#following = merge(this.#follow(), this.#askLog()).subscribe();
    });
  }

  /** Stops; pending waits end as not passed. */
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

  /** True if no other instance listened at the last look. A newer one reads the checkpoints itself, every second. */
  get alone(): boolean {
    return this.#alone;
  }

  /** True while the event log answers: false after two failed reads of its head in a row. */
  get logAnswers(): boolean {
    return this.#unanswered < LOG_FAILURES;
  }

  /** Records a new position, from the local runner after a commit or from another machine. */
  advance(name: string, position: Position): void {
    this.deps.others?.passed(name, position);
    this.hear(name, position);
  }

  /** Notes that a request of another process waits for a position. */
  want(name: string, position: Position): void {
    this.#pauses.want(name, position);
  }

  /** Records a position that another process of this machine told. */
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
   * @param timeoutMs after which it gives up; at once when one of them has no tables.
   * @returns whether they have.
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

  /** Resolves after some ms, or as soon as a request waits for the projection. */
  pause(name: string, ms: number): Promise<void> {
    const isAwaited = [...this.#waiters].some(({ names }) => names.includes(name));
    return isAwaited ? Promise.resolve() : this.#pauses.begin(name, ms);
  }

  /**
   * Returns projections that must not be read: they lack an answered write, lag for long, are at an unknown position,
   * or have missing or outdated tables.
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

  /** Returns projections with missing or unfilled tables; they are stale, too. */
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

  /** Listens and reads over one connection, which is reopened whenever it breaks. */
  #follow(): Observable<void> {
    return this.#connect().pipe(
      switchMap((client) => timer(0, LOOK_MS).pipe(exhaustMap(() => this.#look(client)))),
      retry({
        delay: (_error, tries) => timer(Math.min(50 * 2 ** (tries - 1), 2_000)),
        resetOnSuccess: true,
      }),
    );
  }

  /** Emits a listening connection; fails when it ends. */
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
        // After a crash of the database a checkpoint may be behind its last known position.
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

  /** Asks the log every second where it ends. */
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

  /** Fails when the database does not answer. */
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
      // A runner moves the checkpoint a little after events that its projection doesn't take. Only one that stays behind
      // has gone back.
      if (isBehind && undisturbed && this.#behind.has(name)) this.#passed.delete(name);
      if (isBehind) this.#behind.add(name);
      else this.#behind.delete(name);
      this.hear(name, position);
    }
    this.#freshness.noteLate(at, late);
    this.#alone = (await withTimeout(DATABASE_MS, countListeners(client))) <= 1;
    this.#looked();
  }

  /** Forgets projections without tables; waits for them end. */
  #miss(names: readonly string[]): void {
    this.#missing = names;
    for (const name of names) this.#passed.delete(name);
    for (const waiter of [...this.#waiters]) if (this.#lacksOneOf(waiter.names)) waiter.settle(false);
  }

  #looked(): void {
    if (this.#freshness.known) this.#onFirstLook?.();
  }
}
