/** Locks on conditional criteria across instances: session advisory locks of PostgreSQL, one connection per holder. */
import { createHash } from 'node:crypto';
import type { Pool } from 'pg';

/**
 * Runs work while holding every key. Within the process holders of a key queue first, so that a crowd on one key
 * takes one connection; keys are taken in sorted order, so that no two holders wait for each other.
 */
export class PostgresCriteriaLocks {
  readonly #tails = new Map<string, Promise<unknown>>();

  /** @param pool a pool of its own: holders keep their connection while their work needs others. */
  constructor(readonly pool: Pool) {}

  /** Resolves or rejects as `work` does; the locks are free again then, also when this process dies. */
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
      for (const number of new Set(numbers))
        await client.query('SELECT pg_advisory_lock($1)', [number.toString()]);
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

  async #enter(key: string): Promise<() => void> {
    const before = this.#tails.get(key) ?? Promise.resolve();
    let go: () => void = () => undefined;
    const gone = new Promise<void>((resolve) => {
      go = resolve;
    });
    const tail = before.then(() => gone);
    this.#tails.set(key, tail);
    await before;
    return () => {
      if (this.#tails.get(key) === tail) this.#tails.delete(key);
      go();
    };
  }
}

function lockNumber(key: string): bigint {
  return createHash('sha256').update(`criteria/${key}`).digest().readBigInt64BE(0);
}
