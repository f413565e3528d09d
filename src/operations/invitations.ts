/**
 * Stores invitations to link a person to a record. They aren't events, because the code is a secret and everything is deleted
 * with the record. Redeeming an invitation writes `RecordLinked`.
 */
import type { Pool } from 'pg';
import type { Invitation, NewInvitation } from '../shared/access/invitation.ts';

/** DDL. A purge deletes by record. Five wrong birth dates close an invitation (docs/spec/decisions.md, section 9). */
export const INVITATIONS_SQL = `
CREATE TABLE operations.invitation (
  id text PRIMARY KEY,
  sha256 bytea NOT NULL UNIQUE,        -- of the code
  project text NOT NULL,
  environment text NOT NULL,
  record uuid NOT NULL,
  relationship text NOT NULL,          -- self, dependent
  email text,                          -- lower case; null: anybody who has the code
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz NOT NULL,
  wrong int NOT NULL DEFAULT 0,        -- birth dates
  redeemed_at timestamptz,
  withdrawn_at timestamptz
);
CREATE INDEX invitation_of_record ON operations.invitation (record, created_at, id);
CREATE VIEW operations.invitation_now AS
  SELECT id, sha256, project, environment, record, relationship, email, created_at, expires_at,
         CASE WHEN redeemed_at IS NOT NULL THEN 'redeemed' WHEN withdrawn_at IS NOT NULL THEN 'withdrawn'
              WHEN wrong >= 5 THEN 'closed' WHEN expires_at <= now() THEN 'expired' ELSE 'pending' END AS status
    FROM operations.invitation;
CREATE TABLE operations.invitation_try (
  person bytea PRIMARY KEY,            -- SHA-256 of issuer and subject
  tries timestamptz[] NOT NULL         -- of the last hour
);`;

/** The maximum number of attempts by a person to redeem a code within an hour, right or wrong. */
const MOST_TRIES = 10;

const COLUMNS = `id, project, environment, record, relationship, email,
  (extract(epoch FROM created_at) * 1000000)::int8 AS created_at,
  (extract(epoch FROM expires_at) * 1000000)::int8 AS expires_at, status`;

/** Invitations in PostgreSQL. */
export class Invitations {
  constructor(private readonly pool: Pool) {}

  /**
   * Stores an invitation, unless it has already been stored.
   * @returns undefined if the Patient doesn't exist, because it was deleted or has been purged
   */
  async create(asked: NewInvitation): Promise<Invitation | undefined> {
    const { id, sha256, project, environment, record, relationship, email, days } = asked;
    // The lock keeps a purge from deleting the Patient's row before the invitation exists, so the purge deletes the invitation
    // too.
    await this.pool.query({
      name: 'invitation-create',
      text: `WITH patient AS (
          SELECT r.id FROM resources.resource r WHERE r.id = $5::uuid AND NOT r.deleted FOR KEY SHARE)
        INSERT INTO operations.invitation (id, sha256, project, environment, record, relationship, email, expires_at)
        SELECT $1, $2, $3, $4, p.id, $6, $7, now() + make_interval(days => $8) FROM patient p
        ON CONFLICT (id) DO NOTHING`,
      values: [id, sha256, project, environment, record, relationship, email, days],
    });
    return this.find(record, id);
  }

  /** Returns an invitation for a record; undefined if there is none. */
  async find(record: string, id: string): Promise<Invitation | undefined> {
    const { rows } = await this.pool.query<Invitation>({
      name: 'invitation',
      text: `SELECT ${COLUMNS} FROM operations.invitation_now WHERE record = $1 AND id = $2`,
      values: [record, id],
    });
    return rows[0];
  }

  /** Returns the invitation with the given code; undefined if there is none. */
  async ofCode(sha256: Buffer): Promise<Invitation | undefined> {
    const { rows } = await this.pool.query<Invitation>({
      name: 'invitation-of-code',
      text: `SELECT ${COLUMNS} FROM operations.invitation_now WHERE sha256 = $1`,
      values: [sha256],
    });
    return rows[0];
  }

  /** Withdraws a pending invitation. */
  async withdraw(id: string): Promise<void> {
    await this.pool.query(
      'UPDATE operations.invitation SET withdrawn_at = now() WHERE id = $1 AND withdrawn_at IS NULL AND redeemed_at IS NULL',
      [id],
    );
  }

  /** Counts a wrong birth date; the fifth wrong date closes the invitation. */
  async countWrong(id: string): Promise<void> {
    await this.pool.query('UPDATE operations.invitation SET wrong = wrong + 1 WHERE id = $1', [id]);
  }

  /** Marks an invitation as redeemed. */
  async redeemed(id: string): Promise<void> {
    await this.pool.query(
      'UPDATE operations.invitation SET redeemed_at = coalesce(redeemed_at, now()) WHERE id = $1',
      [id],
    );
  }

  /**
   * Counts a person's attempt to redeem a code, across instances.
   * @param person SHA-256 of issuer and subject
   * @returns false if there were ten attempts in the last hour; this attempt then isn't counted
   */
  async mayTry(person: Buffer): Promise<boolean> {
    const { rowCount } = await this.pool.query({
      name: 'invitation-try',
      text: `INSERT INTO operations.invitation_try AS t (person, tries) VALUES ($1, ARRAY[now()])
        ON CONFLICT (person) DO UPDATE
          SET tries = array(SELECT x FROM unnest(t.tries) x WHERE x > now() - interval '1 hour') || now()
          WHERE (SELECT count(*) FROM unnest(t.tries) x WHERE x > now() - interval '1 hour') < ${MOST_TRIES}`,
      values: [person],
    });
    return rowCount === 1;
  }

  /** Deletes a record's invitations. */
  async forget(record: string): Promise<void> {
    await this.pool.query('DELETE FROM operations.invitation WHERE record = $1', [record]);
  }

  /** Deletes attempts that no longer count against anyone's limit. */
  async sweep(): Promise<void> {
    await this.pool.query(
      "DELETE FROM operations.invitation_try WHERE now() - interval '1 hour' > ALL (tries)",
    );
  }
}
