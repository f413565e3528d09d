/**
 * Usage of projects by day (UTC) and environment (requests, errors, reads, writes, and bytes of written events), and the time
 * when each API key was last used, to the minute.
 */

import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { parseMetadata } from '#src/events/metadata.ts';
import type { EventStore, NewEvent } from '#src/events/store.ts';
import { wrappedStore } from '#src/events/wrapped-store.ts';
import type { Tenant } from '#src/shared/access/caller.ts';

/** The table, in schema `operations`. */
export const KEY_USE_SQL = `
CREATE TABLE operations.key_use (
  key_id text PRIMARY KEY,
  used_at int8 NOT NULL                -- microseconds since 1970
);`;

/** The minimum interval between two writes of a key's use, in microseconds. */
const MINUTE = 60_000_000;
/** Maximum number of keys whose last write is remembered; for all other keys, a use is written once more than necessary. */
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

  /**
   * Records a use.
   * @param at in microseconds since 1970
   */
  used(keyId: string, at: number): void {
    if (at - (this.#written.get(keyId) ?? 0) < MINUTE) return;
    this.#fresh.set(keyId, at);
  }

  /** Writes the new uses. Rejects while the database is unreachable; the uses are then kept. */
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

/** The table, in schema `operations`. */
export const USAGE_SQL = `
CREATE TABLE operations.usage (
  project text NOT NULL,
  environment text NOT NULL,
  day date NOT NULL,
  requests int8 NOT NULL DEFAULT 0,
  reads int8 NOT NULL DEFAULT 0,
  writes int8 NOT NULL DEFAULT 0,
  stored int8 NOT NULL DEFAULT 0,      -- bytes of data and metadata of the events written
  PRIMARY KEY (project, environment, day)
);`;

/**
 * Migration that adds the numbers of refused (4xx) and failed (5xx) requests. Null means not counted, because an earlier
 * version wrote the day's first requests.
 */
export const USAGE_ERRORS_SQL =
  'ALTER TABLE operations.usage ADD COLUMN client_errors int8, ADD COLUMN server_errors int8;';

/** Sums that have not yet been written. */
interface Sum {
  readonly tenant: Tenant;
  readonly day: string;
  requests: number;
  writes: number;
  stored: number;
  clientErrors: number;
  serverErrors: number;
}

// A null stays null.
const ADD = `
insert into operations.usage as u (project, environment, day, requests, reads, writes, stored, client_errors, server_errors)
select project, environment, day, requests, requests - writes, writes, stored, client_errors, server_errors
  from unnest($1::text[], $2::text[], $3::date[], $4::int8[], $5::int8[], $6::int8[], $7::int8[], $8::int8[])
    as s(project, environment, day, requests, writes, stored, client_errors, server_errors)
 order by project, environment, day
on conflict (project, environment, day) do update set
  requests = u.requests + excluded.requests,
  reads = u.reads + excluded.reads,
  writes = u.writes + excluded.writes,
  stored = u.stored + excluded.stored,
  client_errors = u.client_errors + excluded.client_errors,
  server_errors = u.server_errors + excluded.server_errors`;

/** Adds up usage in memory and writes it every second; an instance that is killed loses the last second's usage. */
export class Usage {
  #sums = new Map<string, Sum>();

  constructor(readonly pool: Pool) {}

  /**
   * Counts a request.
   * @param writes whether the request may have changed anything
   * @param status the status of its answer
   */
  request(tenant: Tenant, writes: boolean, status: number): void {
    const sum = this.#sum(tenant);
    sum.requests += 1;
    if (writes) sum.writes += 1;
    if (status >= 500) sum.serverErrors += 1;
    else if (status >= 400) sum.clientErrors += 1;
  }

  /** Counts the bytes of written events. */
  stored(tenant: Tenant, bytes: number): void {
    this.#sum(tenant).stored += bytes;
  }

  /** Writes the sums. Rejects while the database is unreachable; the sums are then kept. */
  async flush(): Promise<void> {
    if (this.#sums.size === 0) return;
    const sums = this.#sums;
    this.#sums = new Map();
    const all = [...sums.values()];
    try {
      await this.pool.query({
        name: 'usage-add',
        text: ADD,
        values: [
          all.map(({ tenant }) => tenant.project),
          all.map(({ tenant }) => tenant.environment),
          all.map(({ day }) => day),
          all.map(({ requests }) => requests),
          all.map(({ writes }) => writes),
          all.map(({ stored }) => stored),
          all.map(({ clientErrors }) => clientErrors),
          all.map(({ serverErrors }) => serverErrors),
        ],
      });
    } catch (error) {
      for (const kept of all) {
        const sum = this.#sum(kept.tenant, kept.day);
        sum.requests += kept.requests;
        sum.writes += kept.writes;
        sum.stored += kept.stored;
        sum.clientErrors += kept.clientErrors;
        sum.serverErrors += kept.serverErrors;
      }
      throw error;
    }
  }

  #sum(tenant: Tenant, day = today()): Sum {
    const name = `${tenant.project}/${tenant.environment}/${day}`;
    const known = this.#sums.get(name);
    if (known !== undefined) return known;
    const sum = { tenant, day, requests: 0, writes: 0, stored: 0, clientErrors: 0, serverErrors: 0 };
    this.#sums.set(name, sum);
    return sum;
  }
}

const DAY_MS = 86_400_000;
let known = { day: -1, text: '' };

/** Returns the current day (UTC) as `YYYY-MM-DD`; the text is formatted once per day. */
function today(): string {
  const day = Math.floor(Date.now() / DAY_MS);
  if (day !== known.day) known = { day, text: new Date(day * DAY_MS).toISOString().slice(0, 10) };
  return known.text;
}

/**
 * Returns a store that behaves like the given store, but counts the bytes appended to a tenant's streams as the tenant's
 * stored bytes.
 */
export function metered(store: EventStore, usage: Pick<Usage, 'stored'>): EventStore {
  return wrappedStore(store, {
    async append(stream, expected, events) {
      const result = await store.append(stream, expected, events);
      const owner = events[0] === undefined ? undefined : parseMetadata(events[0].metadata).owner;
      if (owner !== undefined) usage.stored(owner, sumBytes(events));
      return result;
    },
  });
}

function sumBytes(events: readonly NewEvent[]): number {
  return events.reduce(
    (sum, { data, metadata }) => sum + Buffer.byteLength(data) + Buffer.byteLength(metadata),
    0,
  );
}
