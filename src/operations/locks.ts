/**
 * Locks on the criteria of conditional requests, across instances. They are PostgreSQL's session advisory locks, with one
 * connection per holder.
 */
import { createHash } from 'node:crypto';
import pg, { type Pool, type PoolClient } from 'pg';
import { type Refusal, unavailable } from '#src/shared/refusal.ts';

/** Timeout for a lock, in ms: work under a lock takes a fraction of a second. */
const WAIT_MS = 30_000;

/**
 * Runs work while holding the locks for all given keys. Within the process, callers queue for a key first, so that many
 * callers with the same key take only one connection. Keys are taken in sorted order, so that two holders never deadlock.
 */
export class PostgresCriteriaLocks {
  readonly #tails = new Map<string, Promise<unknown>>();

  /**
   * @param pool a separate pool, because a holder keeps its connection while its work uses other connections
   * @param waitMs timeout for a lock, in ms
   */
  constructor(
    readonly pool: Pool,
    readonly waitMs = WAIT_MS,
  ) {}

  /**
   * Settles as `work` does. The locks are then released; they are also released if this process dies.
   * @throws Refusal `unavailable` if other callers hold a lock for too long; errors from the database
   */
  async hold<T>(keys: readonly string[], work: () => Promise<T>): Promise<T> {
    const sorted = [...new Set(keys)].sort();
    const leave: (() => void)[] = [];
    try {
      for (const key of sorted) leave.push(await this.#enter(key));
      return await this.#locked(sorted, work);
    } finally {
      for (const go of leave) go();
    }
  }

  async #locked<T>(sorted: readonly string[], work: () => Promise<T>): Promise<T> {
    const client = await this.pool.connect();
    try {
      const numbers = sorted.map(lockNumber).sort((a, b) => (a < b ? -1 : a > b ? 1 : 0));
      for (const number of new Set(numbers)) await this.#lock(client, number.toString());
      return await work();
    } finally {
      // A connection that fails to unlock is closed, which also releases its locks.
      const unlocked = await client.query('SELECT pg_advisory_unlock_all()').then(
        () => true,
        () => false,
      );
      client.release(!unlocked);
    }
  }

  /**
   * Takes a lock. The first try fails quickly if the server doesn't answer; a longer wait happens only if another caller holds
   * the lock.
   */
  async #lock(client: PoolClient, number: string): Promise<void> {
    const { rows } = await client.query<{ free: boolean }>('SELECT pg_try_advisory_lock($1) AS free', [
      number,
    ]);
    if (rows[0]?.free === true) return;
    await client.query(`SET lock_timeout = ${this.waitMs}; SET statement_timeout = ${this.waitMs + 5_000}`);
    const waiting = {
      text: 'SELECT pg_advisory_lock($1)',
      values: [number],
      query_timeout: this.waitMs + 5_000,
    };
    await client.query(waiting).catch((error: unknown) => {
      throw error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE ? held() : error;
    });
  }

  async #enter(key: string): Promise<() => void> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    let go: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    const tail = before.then(() => gone);
    this.#tails.set(key, tail);
    const leave = (): void => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
      go();
    };
    if (await endsWithin(before, this.waitMs)) return leave;
    // Callers that queue behind this one must still wait for the callers ahead of it, so its place is passed on.
    void before.then(leave);
    throw held();
  }
}

/** The SQLSTATE for `lock_timeout`. */
const LOCK_NOT_AVAILABLE = '55P03';

function held(): Refusal {
  return unavailable('other requests are writing with the same criteria; retry in a second');
}

async function endsWithin(work: Promise<unknown>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<boolean>((resolve) => {
    timer = setTimeout(resolve, ms, false);
  });
  try {
    return await Promise.race([work.then(() => true), late]);
  } finally {
    clearTimeout(timer);
  }
}

function lockNumber(key: string): bigint {
  return createHash('sha256').update(`criteria/${key}`).digest().readBigInt64BE(0);
}
