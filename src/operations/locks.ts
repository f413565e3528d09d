/**
 * Locks on the criteria of conditional requests, across instances: PostgreSQL's session advisory locks, one connection per
 * holder.
 */
import { createHash } from 'node:crypto';
import pg, { type Pool, type PoolClient } from 'pg';
import { type Refusal, unavailable } from '#src/shared/refusal.ts';

/** Timeout for a lock, in ms: work under a lock takes a fraction of a second. */
const WAIT_MS = 30_000;

/**
 * Runs work while holding every key. Within the process, holders of a key queue first, so that many callers with one key take
 * only one connection. Keys are taken in sorted order, so that two holders never wait for each other.
 */
export class PostgresCriteriaLocks {
  readonly #tails = new Map<string, Promise<unknown>>();

  /**
   * @param pool a separate pool, because holders keep their connection while their work uses others
   * @param waitMs timeout for a lock, in ms
   */
  constructor(
    readonly pool: Pool,
    readonly waitMs = WAIT_MS,
  ) {}

  /**
   * Resolves or rejects as `work` does. The locks are then free again, even if this process dies.
   * @throws Refusal `unavailable` if other callers hold a lock for too long; errors from the database.
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
      // A connection that fails to unlock is closed, which also unlocks.
      const unlocked = await client.query('SELECT pg_advisory_unlock_all()').then(
        () => true,
        () => false,
      );
      client.release(!unlocked);
    }
  }

  /**
   * Takes a lock. If the server doesn't answer, the first try fails; only a lock held by another caller is waited for longer.
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
    // Callers queued behind this one must still wait for those before it, so its place is passed on.
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
