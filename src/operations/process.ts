/**
 * Processes that follow the log and finish what events began (an erasure, carried directory entries): one runner
 * among all instances, a checkpoint that moves only when the work is done, work that can be done twice.
 */
import pg, { type Pool } from 'pg';
import {
  defer,
  finalize,
  from,
  type Observable,
  retry,
  Subject,
  type Subscription,
  switchAll,
  takeUntil,
  timer,
} from 'rxjs';
import { BEGINNING, type EventStore, type Position, type RecordedEvent } from '../events/store.ts';

/** DDL. */
export const PROCESS_SQL = `
CREATE TABLE operations.process (
  name text PRIMARY KEY,
  position text NOT NULL
);`;

/** A process. */
export interface ProcessDefinition {
  readonly name: string;
  /** Streams that it follows. */
  readonly prefixes: readonly string[];
  /** Types of events that it acts on; others only move it forward. */
  readonly types: readonly string[];
  /** Does what the event began; may be called again for the same event. */
  readonly act: (event: RecordedEvent) => Promise<void>;
}

/** What a process runs on. */
export interface ProcessDeps {
  readonly store: EventStore;
  readonly pool: Pool;
  readonly databaseUrl: string;
  readonly log: { warn(details: object, message: string): void };
}

/** How often a follower tries to take over, and how long a failed runner waits before it goes on, in ms. */
const PAUSE = 1000;
/** An idle process writes its checkpoint at most this often, in ms: it need not remember what it had no use for. */
const SAVE_EVERY = 1000;

/** Runs a process on whichever instance holds its lock. */
export class Process {
  readonly #passed = new Subject<Position>();
  #subscription: Subscription | undefined;
  /** How far this instance's runner has come; a later runner may do a little again. */
  #reached = BEGINNING;
  #saving: NodeJS.Timeout | undefined;

  constructor(
    readonly definition: ProcessDefinition,
    readonly deps: ProcessDeps,
  ) {}

  /** Begins; returns at once. */
  start(): void {
    this.#subscription ??= defer(() => this.#lead())
      .pipe(
        switchAll(),
        retry({
          delay: (error: unknown) => {
            if (!(error instanceof NotLeader)) {
              const reason = error instanceof Error ? error.message : String(error);
              this.deps.log.warn(
                { process: this.definition.name, reason },
                'a process was interrupted and will go on',
              );
            }
            return timer(PAUSE);
          },
        }),
      )
      .subscribe();
  }

  /** Stops after the event at hand. */
  stop(): void {
    this.#subscription?.unsubscribe();
    this.#subscription = undefined;
    clearTimeout(this.#saving);
    this.#saving = undefined;
  }

  /** Waits until the process, on whichever instance, has done everything up to a position. False after `patience` ms. */
  async finished(position: Position, patience: number): Promise<boolean> {
    const deadline = Date.now() + patience;
    for (;;) {
      if (this.#reached >= position || (await this.#load()) >= position) return true;
      const left = deadline - Date.now();
      if (left <= 0) return false;
      await this.#news(Math.min(left, 100));
    }
  }

  /** Resolves when this instance's runner has moved, or after `ms`. */
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

  async #lead(): Promise<Observable<Position>> {
    const client = new pg.Client({
      connectionString: this.deps.databaseUrl,
      application_name: `annal ${this.definition.name}`,
    });
    const lost = new Promise<never>((_, reject) => {
      client.on('error', reject);
      client.on('end', () => reject(new Error('the connection that holds the lock has ended')));
    });
    lost.catch(() => undefined);
    try {
      await client.connect();
      const { rows } = await client.query<{ leads: boolean }>(
        'SELECT pg_try_advisory_lock(hashtextextended($1, 1)) AS leads',
        [`process/${this.definition.name}`],
      );
      if (rows[0]?.leads !== true) throw new NotLeader();
      const after = await this.#load();
      const { prefixes, types, act } = this.definition;
      return this.deps.store
        .subscribe({
          after,
          prefixes,
          handle: async ({ events, position }) => {
            const own = events.filter((event) => types.includes(event.type));
            for (const event of own) await Promise.race([act(event), lost]);
            await this.#advance(position, own.length > 0);
          },
        })
        .pipe(
          takeUntil(from(lost)),
          finalize(() => void client.end().catch(() => undefined)),
        );
    } catch (error) {
      await client.end().catch(() => undefined);
      throw error;
    }
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
    await this.deps.pool
      .query(
        `INSERT INTO operations.process (name, position) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET position = excluded.position WHERE process.position < excluded.position`,
        [this.definition.name, this.#reached],
      )
      .catch((error: unknown) => {
        const reason = error instanceof Error ? error.message : String(error);
        this.deps.log.warn(
          { process: this.definition.name, reason },
          'a checkpoint was not saved; the next one will be',
        );
      });
  }

  async #load(): Promise<Position> {
    const { rows } = await this.deps.pool.query<{ position: Position }>({
      name: 'process-load',
      text: 'SELECT position FROM operations.process WHERE name = $1',
      values: [this.definition.name],
    });
    return rows[0]?.position ?? BEGINNING;
  }
}

class NotLeader extends Error {
  override readonly name = 'NotLeader';
}
