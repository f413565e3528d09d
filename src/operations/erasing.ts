/**
 * Keeps the facts about a record's grants that `RecordErased` needs, from before the record's stream is erased until the event
 * has been written.
 */
import type { Pool } from 'pg';

/** DDL. Contains no personal data, only ids and dates. */
export const ERASING_SQL = `
CREATE TABLE operations.erasing (
  record uuid PRIMARY KEY,
  grants json NOT NULL
);`;

/** Grants of records that are being purged, in PostgreSQL. */
export class Erasing {
  constructor(private readonly pool: Pool) {}

  /** Stores a record's grants. */
  async keep(record: string, grants: readonly object[]): Promise<void> {
    await this.pool.query(
      `INSERT INTO operations.erasing (record, grants) VALUES ($1, $2)
       ON CONFLICT (record) DO UPDATE SET grants = excluded.grants`,
      [record, JSON.stringify(grants)],
    );
  }

  /** Returns the stored facts; undefined if there are none. */
  async kept(record: string): Promise<unknown> {
    const { rows } = await this.pool.query<{ grants: unknown }>(
      'SELECT grants FROM operations.erasing WHERE record = $1',
      [record],
    );
    return rows[0]?.grants;
  }

  /** Deletes the stored facts, once the event has been written. */
  async done(record: string): Promise<void> {
    await this.pool.query('DELETE FROM operations.erasing WHERE record = $1', [record]);
  }
}
