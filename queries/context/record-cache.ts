/** Caches records of recent contexts, so that the next request waits only for changes. */
import { LRUCache } from 'lru-cache';
import type { Pool } from 'pg';
import { type OpenedRecord, openRecord } from '#src/context/record.ts';
import { onConnection } from '../database/connection.ts';
import type { Queryable } from '../database/gather.ts';
import type { Seeing } from '../sight.ts';
import { type RecordRead, readRecord, readSince } from './read.ts';

/** The maximum size of all cached records, approximately, in bytes. */
const MOST_BYTES = 12_000_000;
/** Approximate bytes of the name of an AI-written version. */
const BYTES_OF_NAME = 120;
/** How long a record is cached after its last use, in ms. */
const HELD_MS = 120_000;

/** An opened record as of a moment. */
export interface CachedRecord {
  readonly read: RecordRead;
  readonly opened: OpenedRecord;
}

/** Reads records and caches them for a while. Every result has the current content of the read model `history`. */
export class RecordCache {
  readonly #held = new LRUCache<string, CachedRecord>({
    maxSize: MOST_BYTES,
    sizeCalculation: ({ read }) => 1_000 + read.bytes + BYTES_OF_NAME * read.byAi.size,
    ttl: HELD_MS,
    // Purged records stay in memory no longer than that.
    ttlAutopurge: true,
  });

  constructor(private readonly pool: Pool) {}

  /**
   * Returns a record in the read models' current state, with all acknowledged writes; undefined if the caller sees no
   * such Patient, or it is deleted. The part that a grant covers is read each time: it isn't cached, because later
   * changes may move resources into it and out of it. Neither is a record as of a moment.
   * @throws Refusal unavailable (503) while the read model history lacks versions that `resources` has
   */
  async open(sees: Seeing, patient: string): Promise<CachedRecord | undefined> {
    const { ownerId: tenant, within, asOf } = sees;
    if (within !== undefined && within.record !== patient) return undefined;
    if (within !== undefined || asOf !== undefined)
      return onConnection(this.pool, (database) => whole(database, sees, patient));
    const key = `${tenant} ${patient}`;
    const before = this.#held.get(key);
    const now = await this.#now(tenant, patient, before);
    if (now === undefined) this.#held.delete(key);
    else this.#held.set(key, now);
    return now;
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

async function whole(database: Queryable, sees: Seeing, patient: string): Promise<CachedRecord | undefined> {
  return opened(await readRecord(database, sees, patient));
}

function opened(read: RecordRead): CachedRecord | undefined {
  if (!read.excerpts.some(({ type }) => type === 'Patient')) return undefined;
  return { read, opened: openRecord(read.excerpts, read.byAi) };
}
