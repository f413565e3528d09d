/** Caches the records of recent contexts, so that the next request has to read only the changes. */
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { type OpenedRecord, openRecord } from '#src/context/record.ts';
import type { Micros } from '#src/shared/time/time.ts';
import { onConnection } from '../database/connection.ts';
import type { Queryable } from '../database/gather.ts';
import type { Seeing } from '../sight.ts';
import { type RecordRead, readBefore, readRecord, readSince } from './read.ts';

/** The approximate maximum size of all cached records, in bytes: for records as of now, and for records as of earlier times. */
const MOST_BYTES = { now: 12_000_000, past: 6_000_000 };
/** Approximate memory per entry for a version that an AI wrote, in bytes. */
const BYTES_OF_NAME = 120;
/** How long a record is cached after its last use, in ms. */
const HELD_MS = 120_000;

/** An opened record as of a point in time. */
export interface CachedRecord {
  readonly read: RecordRead;
  readonly opened: OpenedRecord;
}

/** Reads records and caches them for a while. Every result reflects the current state of the read model `history`. */
export class RecordCache {
  readonly #held = openCache(MOST_BYTES.now);
  /** Records as of earlier times, by the time of their last change before the requested time. */
  readonly #past = openCache(MOST_BYTES.past);

  constructor(private readonly pool: Pool) {}

  /**
   * Returns a record in the read models' current state, with all acknowledged writes, or as of a point in time; undefined if
   * the Patient is deleted or the caller can't see it. The part of a record that a grant covers is read each time. It isn't
   * cached, because later changes may move resources into or out of that part.
   * @param then the database as of the requested time, if any
   * @throws Refusal unavailable (503) while versions that `resources` contains are missing from the read model `history`
   */
  async open(sees: Seeing, patient: string, then = this.pool): Promise<CachedRecord | undefined> {
    const { ownerId: tenant, within, asOf } = sees;
    if (within !== undefined && within.record !== patient) return undefined;
    if (within !== undefined) return onConnection(then, (database) => whole(database, sees, patient));
    if (asOf !== undefined) return this.#pastOf(sees, patient, asOf, then);
    const key = `${tenant} ${patient}`;
    const before = this.#held.get(key);
    const now = await this.#now(tenant, patient, before);
    if (now === undefined) this.#held.delete(key);
    else this.#held.set(key, now);
    return now;
  }

  /** Returns a record as of a point in time. Between two of its changes, a record is the same at all times. */
  async #pastOf(sees: Seeing, patient: string, asOf: Micros, then: Pool): Promise<CachedRecord | undefined> {
    const { ownerId: tenant } = sees;
    const { rows } = await this.pool.query<{ last: Micros }>({
      name: 'context-last-change',
      text: LAST_CHANGE,
      values: [patient, tenant, asOf],
    });
    // Without a change, the record didn't exist: it was created later, or was purged.
    const last = rows[0]?.last;
    if (last === undefined) return undefined;
    const current = this.#held.get(`${tenant} ${patient}`);
    if (current?.read.at === last) return current;
    const key = `${tenant} ${patient} ${last}`;
    const past =
      this.#past.get(key) ??
      (await this.#before(tenant, patient, last, current)) ??
      (await onConnection(then, (database) => whole(database, sees, patient)));
    if (past?.read.at === last) this.#past.set(key, past);
    return past;
  }

  /** Returns a record as of its given earlier change, if that takes only a few versions besides its current state. */
  async #before(
    tenant: string,
    patient: string,
    last: Micros,
    now: CachedRecord | undefined,
  ): Promise<CachedRecord | undefined> {
    if (now === undefined || now.read.at < last) return undefined;
    const read = await readBefore(this.pool, tenant, patient, now.read, last);
    return read && opened(read);
  }

  async #now(
    tenant: string,
    patient: string,
    before: CachedRecord | undefined,
  ): Promise<CachedRecord | undefined> {
    return onConnection(this.pool, async (database) => {
      const since = before && (await readSince(database, tenant, patient, before.read));
      if (since !== undefined && since === before?.read) return before;
      return since === undefined ? whole(database, { ownerId: tenant }, patient) : opened(since);
    });
  }
}

/** Index: history.version_of_record (record, recorded_at, event_id). The tenant is only checked. */
const LAST_CHANGE = `
  select v.recorded_at as last from history.version v
  where v.record = $1 and (v.tenant = $2) is true and v.recorded_at <= $3
  order by v.recorded_at desc limit 1`;

function openCache(most: number): LRUCache<string, CachedRecord> {
  return new LRUCache({
    maxSize: most,
    sizeCalculation: ({ read }) => 1_000 + read.bytes + BYTES_OF_NAME * read.byAi.size,
    ttl: HELD_MS,
    // So purged records stay in memory no longer than this.
    ttlAutopurge: true,
  });
}

async function whole(database: Queryable, sees: Seeing, patient: string): Promise<CachedRecord | undefined> {
  return opened(await readRecord(database, sees, patient));
}

function opened(read: RecordRead): CachedRecord | undefined {
  if (!read.excerpts.some(({ type }) => type === 'Patient')) return undefined;
  return { read, opened: openRecord(read.excerpts, read.byAi) };
}
