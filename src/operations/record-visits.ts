/**
 * Stores when people last looked at a record on the pages, so that the pages can show what is new. A visit lasts as long as a
 * session: entries that existed in an earlier session count as seen. Rows are deleted together with the person's row, and
 * together with the record.
 */
import type { Pool } from 'pg';
import type { PersonId } from '#src/shared/access/identity.ts';
import type { Micros } from '#src/shared/time/time.ts';

/** The DDL of a separate migration. Times are microseconds since 1970. */
export const RECORD_VISITS_SQL = `
CREATE TABLE operations.record_visit (
  issuer text NOT NULL,
  subject text NOT NULL,
  record uuid NOT NULL,
  session text NOT NULL,               -- of the last visit, as in operations.session: SHA-256 in hexadecimal
  seen_at int8 NOT NULL,               -- in that session
  before_at int8,                      -- in the session before; null: there was none
  PRIMARY KEY (issuer, subject, record),
  FOREIGN KEY (issuer, subject) REFERENCES operations.person (issuer, subject) ON DELETE CASCADE
);
CREATE INDEX record_visit_of_record ON operations.record_visit (record);`;

// Only a person who has signed in has a row that visits can refer to.
const VISIT = `
INSERT INTO operations.record_visit AS v (issuer, subject, record, session, seen_at)
SELECT p.issuer, p.subject, $3, $4, (extract(epoch FROM clock_timestamp()) * 1000000)::int8
  FROM operations.person p WHERE p.issuer = $1 AND p.subject = $2
ON CONFLICT (issuer, subject, record) DO UPDATE SET
  before_at = CASE WHEN v.session = excluded.session THEN v.before_at ELSE v.seen_at END,
  session = excluded.session, seen_at = excluded.seen_at
RETURNING before_at::float8 AS before`;

/** Visits to records, in PostgreSQL. */
export class RecordVisits {
  constructor(private readonly pool: Pool) {}

  /**
   * Records a visit.
   * @param session the id of the person's session
   * @returns when the person last saw the record in an earlier session; undefined if never
   */
  async visit({ issuer, subject }: PersonId, record: string, session: string): Promise<Micros | undefined> {
    const { rows } = await this.pool.query<{ before: Micros | null }>({
      name: 'record-visit',
      text: VISIT,
      values: [issuer, subject, record, session],
    });
    return rows[0]?.before ?? undefined;
  }

  /** Deletes the visits to a record that is being erased. */
  async forget(record: string): Promise<void> {
    await this.pool.query('DELETE FROM operations.record_visit WHERE record = $1', [record]);
  }
}
