/** Records when each API key was last used, to the minute. */
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';

/** The table, in schema `operations`. */
export const KEY_USE_SQL = `
CREATE TABLE operations.key_use (
  key_id text PRIMARY KEY,
  used_at int8 NOT NULL                -- microseconds since 1970
);`;

/** The shortest interval between two writes of a key's use, in microseconds. */
const MINUTE = 60_000_000;
/** Number of keys whose last write is remembered; others are written once more. */
const REMEMBERED = 50_000;

const NOTE = `
insert into operations.key_use as k (key_id, used_at)
select key_id, used_at from unnest($1::text[], $2::int8[]) as u(key_id, used_at)
 order by key_id
on conflict (key_id) do update set used_at = greatest(k.used_at, excluded.used_at)`;

/** Last uses, in PostgreSQL. */
export class KeyUse {
  #fresh = new Map<string, number>();
  readonly #written = new LRUCache<string, number>({ max: REMEMBERED });

  constructor(readonly pool: Pool) {}

  /** Notes a use. @param at microseconds since 1970 */
  used(keyId: string, at: number): void {
    if (at - (this.#written.get(keyId) ?? 0) < MINUTE) return;
    this.#fresh.set(keyId, at);
  }

  /** Writes the new uses. Rejects while the database can't be reached; then the uses are kept. */
  async flush(): Promise<void> {
    if (this.#fresh.size === 0) return;
    const fresh = [...this.#fresh];
    await this.pool.query({
      name: 'key-use-note',
      text: NOTE,
      values: [fresh.map(([keyId]) => keyId), fresh.map(([, at]) => at)],
    });
    for (const [keyId, at] of fresh) {
      this.#written.set(keyId, at);
      if (this.#fresh.get(keyId) === at) this.#fresh.delete(keyId);
    }
  }
}
