/**
 * How far each projection has come, as this process knows it: at once from a runner in the process, by LISTEN from
 * runners elsewhere, and by reading the checkpoints every second and after each reconnection.
 */
import type pg from 'pg';
import { exhaustMap, Observable, retry, type Subscription, switchMap, timer } from 'rxjs';
import { BEGINNING, type EventStore, type Position } from '#src/events/store.ts';
import { CHANNEL, countListeners, LISTENER, readCheckpoints } from './checkpoint.ts';
import { Freshness } from './freshness.ts';
import type { Projection } from './projection.ts';
import { closeSession, openSession } from './session.ts';

/** What it needs, and the projections it follows. */
export interface ProgressDeps {
  readonly store: Pick<EventStore, 'head'>;
  readonly databaseUrl: string;
  readonly projections: readonly Pick<Projection, 'name' | 'version'>[];
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

/** How long between two looks at the log's head and the checkpoints. */
const LOOK_MS = 1_000;

/** One per process. */
export class Progress {
  readonly #deps: ProgressDeps;
  readonly #names: readonly string[];
  /** Projections whose tables earlier software has made again: what this one would look for is not in them. */
  readonly #earlier = new Set<string>();
  readonly #passed = new Map<string, Position>();
  readonly #waiters = new Set<Waiter>();
  readonly #pauses = new Set<Pause>();
  readonly #freshness = new Freshness();
  #alone = false;
  /** Counts what became known, so that an answer that was under way meanwhile does not undo it. */
  #changes = 0;
  #following: Subscription | undefined;
  #onFirstLook: (() => void) | undefined;

  constructor(deps: ProgressDeps) {
    this.#deps = deps;
    this.#names = deps.projections.map(({ name }) => name);
  }

  /** Starts following; resolves once the log and every checkpoint have been looked at. */
  start(): Promise<void> {
    return new Promise((resolve) => {
      this.#onFirstLook = resolve;
      this.#following = this.#follow().subscribe();
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
   * @param timeoutMs after which it gives up.
   * @returns whether they have.
   */
  waitFor(position: Position, names: readonly string[], timeoutMs: number): Promise<boolean> {
    if (this.#hasPassed({ position, names })) return Promise.resolve(true);
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
   * Projections that must not be read now: they lag by more than a late answer allows, or nobody knows, or their tables
   * are of an earlier version than this software reads.
   */
  stale(): string[] {
    const now = performance.now();
    return this.#names.filter(
      (name) => this.#earlier.has(name) || !this.#freshness.isFresh(this.#passed.get(name), now),
    );
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
      const lost = () => subscriber.error(new Error('the connection that follows the projections ended'));
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
        this.#freshness.forget();
        opening.then(closeSession, () => undefined);
      };
    });
  }

  #heard(payload: string): void {
    const [name = '', position = ''] = payload.split(' ');
    if (this.#names.includes(name)) this.advance(name, position as Position);
  }

  /** Fails when the database does not answer; a log that does not is only not noted. */
  async #look(client: pg.Client): Promise<void> {
    const at = performance.now();
    const changes = this.#changes;
    const head = within(LOOK_MS * 4, this.#deps.store.head()).catch(() => undefined);
    const checkpoints = await within(LOOK_MS * 4, readCheckpoints(client, this.#names));
    const undisturbed = changes === this.#changes;
    for (const { name, version } of this.#deps.projections) {
      if ((checkpoints.get(name)?.version ?? version) < version) this.#earlier.add(name);
      else this.#earlier.delete(name);
    }
    for (const [name, { position }] of checkpoints) {
      if (undisturbed) this.#passed.delete(name);
      this.advance(name, position);
    }
    this.#alone = (await within(LOOK_MS * 4, countListeners(client))) <= 1;
    const seen = await head;
    if (seen === undefined) return;
    this.#freshness.note(at, seen);
    this.#onFirstLook?.();
  }
}

/** The promise's value, or a failure when it takes longer than `ms`. */
function within<T>(ms: number, promise: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    const timeout = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms);
    promise.then(resolve, reject).finally(() => clearTimeout(timeout));
  });
}
