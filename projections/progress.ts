/**
 * How far each projection has come, as this process knows it: at once from a runner in the process, by LISTEN from
 * runners elsewhere, and by reading the checkpoints every second and after each reconnection. Also whether the event
 * log answers this process.
 */
import type pg from 'pg';
import { exhaustMap, merge, Observable, retry, type Subscription, switchMap, timer } from 'rxjs';
import { BEGINNING, type EventStore, type Position } from '#src/events/store.ts';
import { withTimeout } from '#src/shared/with-timeout.ts';
import { CHANNEL, countListeners, LISTENER, readCheckpoints, unfilled } from './checkpoint.ts';
import { Freshness } from './freshness.ts';
import type { Projection } from './projection.ts';
import { closeSession, openSession } from './session.ts';

/** What it needs, and the projections it follows. */
export interface ProgressDeps {
  readonly store: Pick<EventStore, 'head'>;
  readonly databaseUrl: string;
  readonly projections: readonly Pick<Projection, 'name' | 'version'>[];
  /** Reads which positions read models must have passed, for writes that were answered before. Default: none. */
  readonly lateWrites?: (client: pg.ClientBase) => Promise<ReadonlyMap<string, Position>>;
}

interface Waiter {
  readonly position: Position;
  readonly names: readonly string[];
  readonly settle: (passed: boolean) => void;
}

/** Whoever lets events gather, until somebody waits for it. */
interface Pause {
  readonly name: string;
  readonly end: () => void;
}

/** How long between two looks at the log's head, and at the checkpoints. */
const LOOK_MS = 1_000;
/** How long a question to the database may take. */
const DATABASE_MS = 4_000;
/** How long the log may take to say where it ends, and how many such questions in a row it may fail to answer. */
const LOG_MS = 2_500;
const LOG_FAILURES = 2;

/** One per process. */
export class Progress {
  readonly #deps: ProgressDeps;
  readonly #names: readonly string[];
  /** Projections whose tables earlier software has made again: what this one would look for is not in them. */
  readonly #earlier = new Set<string>();
  /** Projections without tables, or whose tables a rebuild has yet to fill, as of the last look. */
  #missing: readonly string[] = [];
  readonly #passed = new Map<string, Position>();
  readonly #waiters = new Set<Waiter>();
  readonly #pauses = new Set<Pause>();
  readonly #freshness = new Freshness();
  #alone = false;
  /** Counts what became known, so that an answer that was under way meanwhile does not undo it. */
  #changes = 0;
  #following: Subscription | undefined;
  /** Questions in a row that the log didn't answer. */
  #unanswered = 0;
  #onFirstLook: (() => void) | undefined;

  constructor(deps: ProgressDeps) {
    this.#deps = deps;
    this.#names = deps.projections.map(({ name }) => name);
  }

  /** Starts following; resolves once the log and every checkpoint have been looked at. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#onFirstLook = resolve;
      this.#following = merge(this.#follow(), this.#askLog()).subscribe();
    });
  }

  /** Stops following; whoever still waits is told that it did not pass. */
  stop(): void {
    this.#following?.unsubscribe();
    for (const waiter of [...this.#waiters]) waiter.settle(false);
    for (const pause of [...this.#pauses]) pause.end();
  }

  /** How far a projection has come; undefined while nobody knows. */
  passed(name: string): Position | undefined {
    return this.#passed.get(name);
  }

  /** How far each has come, of which that is known. */
  positions(): ReadonlyMap<string, Position> {
    return this.#passed;
  }

  /**
   * Whether no other instance listened at the last look. One that has begun since reads the checkpoints itself, every
   * second, until it is heard of.
   */
  get alone(): boolean {
    return this.#alone;
  }

  /** Whether the event log answers this instance: false once it has failed to say twice in a row where it ends. */
  get logAnswers(): boolean {
    return this.#unanswered < LOG_FAILURES;
  }

  /** A projection has come further: from its runner after a commit, or from another instance. */
  advance(name: string, position: Position): void {
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
      for (const pause of [...this.#pauses]) if (names.includes(pause.name)) pause.end();
    });
  }

  /** Resolves after so many ms, or as soon as somebody of this process waits for the projection to come further. */
  pause(name: string, ms: number): Promise<void> {
    if ([...this.#waiters].some(({ names }) => names.includes(name))) return Promise.resolve();
    return new Promise((resolve) => {
      const timeout = setTimeout(() => pause.end(), ms).unref();
      const pause: Pause = {
        name,
        end: () => {
          clearTimeout(timeout);
          this.#pauses.delete(pause);
          resolve();
        },
      };
      this.#pauses.add(pause);
    });
  }

  /**
   * Projections that must not be read now: they lack a write that was answered, or lag for long, or nobody knows, or their
   * tables are missing or of an earlier version than this software reads.
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

  /** Projections that have no tables, or none that a rebuild has filled yet; all of them are stale, too. */
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

  /** One connection that listens and looks; begun again whenever it breaks. */
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
      const opening = openSession(this.#deps.databaseUrl, { name: LISTENER }, lost).then(async (client) => {
        client.on('notification', ({ payload = '' }) => this.#heard(payload));
        await client.query(`listen ${CHANNEL}`);
        subscriber.next(client);
        return client;
      });
      opening.catch((error: unknown) => subscriber.error(error));
      return () => {
        // After a crash of the database a checkpoint may stand further back than it was said to be.
        this.#passed.clear();
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
          const head = await withTimeout(LOG_MS, this.#deps.store.head());
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
    const { lateWrites = async () => new Map<string, Position>() } = this.#deps;
    const [checkpoints, late] = await withTimeout(
      DATABASE_MS,
      Promise.all([readCheckpoints(client, this.#names), lateWrites(client)]),
    );
    const undisturbed = changes === this.#changes;
    this.#miss(unfilled(this.#names, checkpoints));
    for (const { name, version } of this.#deps.projections) {
      if ((checkpoints.get(name)?.version ?? version) < version) this.#earlier.add(name);
      else this.#earlier.delete(name);
    }
    for (const [name, { position }] of checkpoints) {
      if (this.#missing.includes(name)) continue;
      if (undisturbed) this.#passed.delete(name);
      this.advance(name, position);
    }
    this.#freshness.noteLate(at, late);
    this.#alone = (await withTimeout(DATABASE_MS, countListeners(client))) <= 1;
    this.#looked();
  }

  /** Of projections without tables nothing is known, and nobody need wait for them. */
  #miss(names: readonly string[]): void {
    this.#missing = names;
    for (const name of names) this.#passed.delete(name);
    for (const waiter of [...this.#waiters]) if (this.#lacksOneOf(waiter.names)) waiter.settle(false);
  }

  #looked(): void {
    if (this.#freshness.known) this.#onFirstLook?.();
  }
}
