/** Snapshots of stream states: ids, versions and status. They are disposable: only the log is authoritative. */
import type { Pool } from 'pg';
import type { Tenant } from '#src/shared/access/caller.ts';
import type { StreamHead } from '../events/store.ts';

/** DDL. `entry` is looked up only by (stream, id); a purge deletes by stream. */
export const SNAPSHOTS_SQL = `
CREATE TABLE operations.snapshot (
  stream text PRIMARY KEY,
  revision int NOT NULL,
  hash text NOT NULL,
  recorded_at int8 NOT NULL,
  project text,
  environment text
);
CREATE TABLE operations.snapshot_entry (
  stream text NOT NULL,
  id text NOT NULL,
  type text NOT NULL,
  version int NOT NULL,
  deleted boolean NOT NULL,
  revision int NOT NULL,
  PRIMARY KEY (stream, id)
);`;

/**
 * DDL: adds the version of the fold that made a row (`SNAPSHOT_VERSION`). Rows that were made before the version was recorded
 * count as the first version.
 */
export const SNAPSHOT_FOLD_SQL = `
ALTER TABLE operations.snapshot ADD COLUMN fold int NOT NULL DEFAULT 1;
ALTER TABLE operations.snapshot_entry ADD COLUMN fold int NOT NULL DEFAULT 1;`;

/**
 * DDL: an index to find a record's grants and links, which are few among its entries. For all other entries, `type` is a
 * resource type.
 */
export const SNAPSHOT_CONSENT_SQL = `
CREATE INDEX snapshot_entry_consent ON operations.snapshot_entry (stream) WHERE type IN ('Grant', 'Link');`;

/** DDL: the same index, extended by shared links. */
export const SNAPSHOT_SHARED_LINKS_SQL = `
DROP INDEX operations.snapshot_entry_consent;
CREATE INDEX snapshot_entry_consent ON operations.snapshot_entry (stream) WHERE type IN ('Grant', 'Link', 'SharedLink');`;

interface Entry {
  readonly type: string;
  readonly version: number;
  readonly deleted: boolean;
  readonly revision: number;
}

interface Head {
  /** The version of the fold. */
  readonly fold: number;
  readonly head: StreamHead;
  readonly recordedAt: number;
  readonly owner: Tenant | undefined;
}

const LOAD = {
  name: 'snapshot-load',
  text: `SELECT s.fold, s.revision AS head_revision, s.hash, s.recorded_at, s.project, s.environment,
                e.id, e.type, e.version, e.deleted, e.revision
           FROM operations.snapshot s
           LEFT JOIN operations.snapshot_entry e ON e.stream = s.stream AND e.fold = s.fold AND e.id = ANY ($2)
          WHERE s.stream = $1`,
};

/** Like `LOAD`, but also loads all grants, links and shared links. */
const LOAD_CONSENT = {
  name: 'snapshot-load-consent',
  text: `SELECT s.fold, s.revision AS head_revision, s.hash, s.recorded_at, s.project, s.environment,
                e.id, e.type, e.version, e.deleted, e.revision
           FROM operations.snapshot s
           LEFT JOIN LATERAL (
             SELECT id, type, version, deleted, revision FROM operations.snapshot_entry
              WHERE stream = s.stream AND fold = s.fold AND id = ANY ($2)
             UNION
             SELECT id, type, version, deleted, revision FROM operations.snapshot_entry
              WHERE stream = s.stream AND fold = s.fold AND type IN ('Grant', 'Link', 'SharedLink')
           ) e ON true
          WHERE s.stream = $1`,
};

// A single statement, so that head and entries change together; an older writer or an older fold never moves them back. The
// entries that changed since a snapshot are useless without that snapshot, which another instance may have removed.
const SAVE = `
WITH base AS (
  SELECT FROM operations.snapshot WHERE stream = $1 AND fold = $8 AND revision >= $9 FOR NO KEY UPDATE
), sound AS (
  SELECT WHERE $9::int < 0 OR EXISTS (SELECT FROM base)
), entries AS (
  INSERT INTO operations.snapshot_entry (stream, id, type, version, deleted, revision, fold)
  SELECT $1, e.id, e.type, e.version, e.deleted, e.revision, $8
    FROM sound, json_to_recordset($7) AS e(id text, type text, version int, deleted boolean, revision int)
  ON CONFLICT (stream, id) DO UPDATE
    SET type = excluded.type, version = excluded.version, deleted = excluded.deleted, revision = excluded.revision, fold = excluded.fold
    WHERE (snapshot_entry.fold, snapshot_entry.revision) < (excluded.fold, excluded.revision)
), head AS (
INSERT INTO operations.snapshot (stream, revision, hash, recorded_at, project, environment, fold)
SELECT $1, $2, $3, $4, $5, $6, $8 FROM sound
ON CONFLICT (stream) DO UPDATE
  SET revision = excluded.revision, hash = excluded.hash, recorded_at = excluded.recorded_at, fold = excluded.fold
  WHERE (snapshot.fold, snapshot.revision) < (excluded.fold, excluded.revision)
)
SELECT EXISTS (SELECT FROM sound) AND NOT EXISTS (SELECT FROM operations.snapshot WHERE stream = $1 AND fold > $8) AS saved`;

interface Row {
  fold: number;
  head_revision: number;
  hash: string;
  recorded_at: number;
  project: string | null;
  environment: Tenant['environment'] | null;
  id: string | null;
  type: string;
  version: number;
  deleted: boolean;
  revision: number;
}

/** Snapshots in PostgreSQL. */
export class PostgresSnapshots {
  constructor(readonly pool: Pool) {}

  /**
   * Returns a stream's newest snapshot with the entries that are among `ids`, read consistently.
   * @param withConsent true to also return all grants, links and shared links
   */
  async load(
    stream: string,
    ids: readonly string[],
    withConsent = false,
  ): Promise<(Head & { entries: Map<string, Entry> }) | undefined> {
    const { rows } = await this.pool.query<Row>({
      ...(withConsent ? LOAD_CONSENT : LOAD),
      values: [stream, ids],
    });
    const [first] = rows;
    if (first === undefined) return undefined;
    const entries = new Map<string, Entry>();
    for (const { id, type, version, deleted, revision } of rows) {
      if (id !== null) entries.set(id, { type, version, deleted, revision });
    }
    const { project, environment } = first;
    return {
      fold: first.fold,
      head: { revision: first.head_revision, hash: first.hash },
      recordedAt: first.recorded_at,
      owner: project === null || environment === null ? undefined : { project, environment },
      entries,
    };
  }

  /**
   * Moves a stream's snapshot forward.
   * @param changed the entries that changed after revision `since`, for which a snapshot with the same fold is stored; all
   *   entries if `since` is -1
   * @returns false if nothing was saved because a newer fold made the stored snapshot, or because the snapshot at `since` no
   *   longer exists
   */
  async save(
    stream: string,
    { fold, head, recordedAt, owner }: Head,
    changed: ReadonlyMap<string, Entry>,
    since: number,
  ): Promise<boolean> {
    const entries = JSON.stringify([...changed].map(([id, entry]) => ({ id, ...entry })));
    const { rows } = await this.pool.query<{ saved: boolean }>(SAVE, [
      stream,
      head.revision,
      head.hash,
      recordedAt,
      owner?.project ?? null,
      owner?.environment ?? null,
      entries,
      fold,
      since,
    ]);
    return rows[0]?.saved === true;
  }

  /** Deletes a stream's snapshot. */
  async forget(stream: string): Promise<void> {
    await this.pool.query(
      'WITH e AS (DELETE FROM operations.snapshot_entry WHERE stream = $1) DELETE FROM operations.snapshot WHERE stream = $1',
      [stream],
    );
  }
}
