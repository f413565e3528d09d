/**
 * Removes a record's access log and receipts when the record is purged, and prevents other instances' batches from writing
 * anything afterwards.
 */
import type { Pool } from 'pg';
import { GENESIS } from './chain.ts';

/**
 * The data that a purge keeps about an access log: the number of its entries, and the last entry's hash (64 hex digits); null
 * if there were no entries.
 */
export interface ErasedAccess {
  readonly entries: number;
  readonly hash: string | null;
}

const MARK = `
insert into operations.access_head as h (record, erased) values ($1, true)
on conflict (record) do update set erased = true
returning entries, hash`;

const REMOVE = `
delete from operations.access_entry
 where record = $1 and seq = any(array(select seq from operations.access_entry where record = $1 order by seq limit 5000))`;

/** Removes a record's entries and receipts. A second run returns the same result. */
export async function eraseAccessLog(pool: Pool, record: string): Promise<ErasedAccess> {
  // A batch that is being written locks the row, so its entries and receipts already exist when the mark is set.
  const { rows } = await pool.query<{ entries: number; hash: Buffer }>(MARK, [record]);
  await pool.query('delete from operations.receipt where record = $1', [record]);
  await pool.query('delete from operations.access_use where record = $1', [record]);
  for (let removed = 1; removed > 0; ) removed = (await pool.query(REMOVE, [record])).rowCount ?? 0;
  const { entries = 0, hash = GENESIS } = rows[0] ?? {};
  return { entries, hash: entries === 0 ? null : hash.toString('hex') };
}
