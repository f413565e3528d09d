/** Locks on conditional criteria across instances: session advisory locks of PostgreSQL, one connection per holder. */
import { createHash } from 'node:crypto';
import pg, { type Pool, type PoolClient } from 'pg';
import { type Refusal, unavailable } from '#src/shared/refusal.ts';

/** Timeout for a lock, in ms: work under a lock takes a fraction of a second. */
const WAIT_MS = 30_000;

/**
 * Runs work while holding every key. Within the process holders of a key queue first, so that a crowd on one key
 * takes one connection; keys are taken in sorted order, so that no two holders wait for each other.
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
   * Resolves or rejects as `work` does; the locks are free again then, also when this process dies.
   * @throws Refusal `unavailable` when others hold a lock for too long; errors of the database.
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
      // A connection that fails to unlock is closed, which unlocks too.
      const unlocked = await client.query('SELECT pg_advisory_unlock_all()').then(
        () => true,
        () => false,
      );
      client.release(!unlocked);
    }
  }

  /**
   * Takes a lock. A server that doesn't answer fails the first try; only a lock held by others is waited for longer.
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
    // Callers queued behind still wait for those before: their place is passed on.
    void before.then(leave);
    throw held();
  }
}

/** SQLSTATE of `lock_timeout`. */
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
