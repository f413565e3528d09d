/**
 * Stores the secrets of shared links (keys, passcodes), and the content of links that don't show the current record. Both are
 * deleted when a link ends. The events tell who made each link, and whether it has ended.
 */
import type { Pool } from 'pg';

/**
 * DDL. Deleting a link deletes its parts and locations. `attempts` counts all attempts that were begun: an attempt counts
 * before the passcode is compared, and is given back if the passcode is right.
 */
export const SHARED_LINKS_SQL = `
CREATE TABLE operations.shared_link_key (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  key bytea NOT NULL
);
CREATE TABLE operations.shared_link (
  id text PRIMARY KEY,
  record uuid NOT NULL,
  sealed_key text NOT NULL,            -- nonce, ciphertext and tag, under operations.shared_link_key
  salt bytea,                          -- of the passcode; null without one
  passcode bytea,                      -- scrypt
  attempts int NOT NULL DEFAULT 0,
  wrong int NOT NULL DEFAULT 0,        -- of these, known to be wrong
  attempted_at timestamptz,            -- the last
  length int8,                         -- characters of the content; null: made whenever it is opened
  created_at timestamptz NOT NULL DEFAULT now(),
  confirmed boolean NOT NULL DEFAULT false -- its event is written
);
CREATE INDEX shared_link_of_record ON operations.shared_link (record);
CREATE INDEX shared_link_unconfirmed ON operations.shared_link (created_at) WHERE NOT confirmed;
CREATE INDEX shared_link_used_up ON operations.shared_link (id) WHERE attempts >= 5;
CREATE TABLE operations.shared_link_part (
  link text NOT NULL REFERENCES operations.shared_link (id) ON DELETE CASCADE,
  n int NOT NULL,
  text bytea NOT NULL,                 -- of the JWE
  PRIMARY KEY (link, n)
);
CREATE TABLE operations.shared_link_location (
  sha256 bytea PRIMARY KEY,            -- of the ticket in the URL
  link text NOT NULL REFERENCES operations.shared_link (id) ON DELETE CASCADE,
  recipient text NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX shared_link_location_of_link ON operations.shared_link_location (link);
CREATE INDEX shared_link_location_expiry ON operations.shared_link_location (expires_at);`;

/** The maximum number of attempts with a wrong passcode during a link's lifetime (docs/spec/decisions.md, section 7). */
export const MOST_ATTEMPTS = 5;

/** How long a location works, in seconds (https://docs.smarthealthit.org/smart-health-links/spec/: at most an hour). */
const LOCATION_S = 3_600;

/** A link to store. */
export interface KeptLink {
  readonly id: string;
  readonly record: string;
  readonly sealedKey: string;
  readonly salt: Buffer | null;
  readonly passcode: Buffer | null;
}

/** Rows of shared links, in PostgreSQL. */
export class SharedLinks {
  constructor(private readonly pool: Pool) {}

  /**
   * Stores a link, which can't be opened until its event is written. Storing it again replaces the rows of an interrupted
   * attempt.
   * @returns `confirmed` if an earlier attempt completed the link, which then stays unchanged; `missing` if the Patient was
   *   deleted or has been purged
   */
  async begin({
    id,
    record,
    sealedKey,
    salt,
    passcode,
  }: KeptLink): Promise<'begun' | 'confirmed' | 'missing'> {
    // The lock keeps a purge from deleting the Patient's row before the link exists, so the purge deletes the link too.
    const { rowCount } = await this.pool.query({
      name: 'shared-link-begin',
      text: `WITH patient AS (
          SELECT r.id FROM resources.resource r WHERE r.id = $2::uuid AND NOT r.deleted FOR KEY SHARE)
        INSERT INTO operations.shared_link (id, record, sealed_key, salt, passcode)
        SELECT $1, p.id, $3, $4, $5 FROM patient p
        ON CONFLICT (id) DO UPDATE SET sealed_key = excluded.sealed_key, salt = excluded.salt, passcode = excluded.passcode
          WHERE NOT shared_link.confirmed`,
      values: [id, record, sealedKey, salt, passcode],
    });
    if (rowCount === 1) return 'begun';
    const kept = await this.pool.query('SELECT FROM operations.shared_link WHERE id = $1', [id]);
    return kept.rowCount === 1 ? 'confirmed' : 'missing';
  }

  /**
   * Stores a link's content in parts, replacing the parts of an interrupted attempt.
   * @param give writes the content's receipt and returns its id
   */
  async keep(id: string, parts: AsyncIterable<Buffer>, give: () => Promise<string>): Promise<void> {
    await this.pool.query('DELETE FROM operations.shared_link_part WHERE link = $1', [id]);
    let [n, length] = [0, 0];
    for await (const text of parts) {
      await this.pool.query({
        name: 'shared-link-part',
        text: 'INSERT INTO operations.shared_link_part (link, n, text) VALUES ($1, $2, $3)',
        values: [id, n, text],
      });
      n += 1;
      length += text.length;
    }
    await this.pool.query('UPDATE operations.shared_link SET length = $2, receipt = $3 WHERE id = $1', [
      ...[id, length, await give()],
    ]);
  }

  /** Yields a link's content, one part at a time. */
  async *content(id: string): AsyncGenerator<Buffer, undefined> {
    for (let n = 0; ; n += 1) {
      const { rows } = await this.pool.query<{ text: Buffer }>({
        name: 'shared-link-content',
        text: 'SELECT text FROM operations.shared_link_part WHERE link = $1 AND n = $2',
        values: [id, n],
      });
      const [row] = rows;
      if (row === undefined) return;
      yield row.text;
    }
  }

  /** Records that a link's event has been written; from now on, the link is deleted only when it ends. */
  async confirm(id: string): Promise<void> {
    await this.pool.query('UPDATE operations.shared_link SET confirmed = true WHERE id = $1', [id]);
  }

  /**
   * Begins an attempt with a passcode. All instances together allow at most five attempts, not counting those that are given
   * back.
   * @returns false if no attempts are left
   */
  async attempt(id: string): Promise<boolean> {
    const { rowCount } = await this.pool.query({
      name: 'shared-link-attempt',
      text: `UPDATE operations.shared_link SET attempts = attempts + 1, attempted_at = now()
              WHERE id = $1 AND attempts < ${MOST_ATTEMPTS}`,
      values: [id],
    });
    return rowCount === 1;
  }

  /** Gives an attempt back, because its passcode was right. */
  async wasRight(id: string): Promise<void> {
    await this.pool.query({
      name: 'shared-link-right',
      text: 'UPDATE operations.shared_link SET attempts = attempts - 1 WHERE id = $1',
      values: [id],
    });
  }

  /**
   * Records that an attempt's passcode was wrong.
   * @returns how many attempts are left; 0 if the link no longer exists
   */
  async wasWrong(id: string): Promise<number> {
    const { rows } = await this.pool.query<{ left: number }>({
      name: 'shared-link-wrong',
      text: `UPDATE operations.shared_link SET wrong = wrong + 1 WHERE id = $1
              RETURNING ${MOST_ATTEMPTS} - attempts AS left`,
      values: [id],
    });
    return rows[0]?.left ?? 0;
  }

  /**
   * Creates a location from which the content can be fetched once.
   * @param ticket SHA-256 of the secret in its URL
   */
  async locate(id: string, ticket: Buffer, recipient: string): Promise<void> {
    await this.pool.query({
      name: 'shared-link-locate',
      text: `INSERT INTO operations.shared_link_location (sha256, link, recipient, expires_at)
             SELECT $2, id, $3, now() + interval '${LOCATION_S} seconds' FROM operations.shared_link WHERE id = $1`,
      values: [id, ticket, recipient],
    });
  }

  /**
   * Uses up a location.
   * @returns who asked for the location; undefined if it never existed or no longer exists
   */
  async fetch(id: string, ticket: Buffer): Promise<string | undefined> {
    const { rows } = await this.pool.query<{ recipient: string }>({
      name: 'shared-link-fetch',
      text: `DELETE FROM operations.shared_link_location WHERE sha256 = $2 AND link = $1 AND expires_at > now()
             RETURNING recipient`,
      values: [id, ticket],
    });
    return rows[0]?.recipient;
  }

  /** Returns whether a location exists and hasn't been used up. */
  async isLocated(id: string, ticket: Buffer): Promise<boolean> {
    const { rowCount } = await this.pool.query({
      name: 'shared-link-located',
      text: 'SELECT FROM operations.shared_link_location WHERE sha256 = $2 AND link = $1 AND expires_at > now()',
      values: [id, ticket],
    });
    return rowCount === 1;
  }

  /** Deletes links. */
  async remove(ids: readonly string[]): Promise<void> {
    await this.pool.query('DELETE FROM operations.shared_link WHERE id = ANY ($1)', [ids]);
  }

  /** Deletes a record's links that have ended. */
  async removeEnded(record: string): Promise<void> {
    await this.pool.query(
      `DELETE FROM operations.shared_link k USING consents.shared_links s
        WHERE k.record = $1 AND s.link_id = k.id AND s.ended_at IS NOT NULL`,
      [record],
    );
  }

  /** Deletes a record's links. */
  async forget(record: string): Promise<void> {
    await this.pool.query('DELETE FROM operations.shared_link WHERE record = $1', [record]);
  }

  /** Deletes expired locations, links that have ended, and links whose event was not written within an hour. */
  async sweep(): Promise<void> {
    await this.pool.query('DELETE FROM operations.shared_link_location WHERE expires_at < now()');
    await this.pool.query(
      `DELETE FROM operations.shared_link k USING consents.shared_links s
        WHERE s.link_id = k.id AND s.ended_at IS NOT NULL`,
    );
    await this.pool.query(
      `DELETE FROM operations.shared_link k
        WHERE NOT k.confirmed AND k.created_at < now() - interval '1 hour'
          AND NOT EXISTS (SELECT FROM consents.shared_links s WHERE s.link_id = k.id)`,
    );
  }
}
