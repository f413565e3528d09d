/**
 * Removes data that was deleted from PostgreSQL's tables from the files as well. A DELETE leaves rows in their pages, values
 * in the planner's statistics, and both in the write-ahead log. https://www.postgresql.org/docs/current/routine-vacuuming.html
 */
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';

/** How long to wait for sessions that might still see deleted data, in ms. */
const PATIENCE_MS = 30_000;
const LOOK_MS = 100;

/** The outcome of a rewrite. */
export interface Rewritten {
  readonly tables: number;
  /**
   * True if the write-ahead log was also renewed; false if the role isn't allowed to renew it, so that the server's
   * administrator must do it.
   */
  readonly log: boolean;
}

/** Thrown when a session can still see deleted data; the message names the session. */
export class StillSeen extends Error {
  override readonly name = 'StillSeen';
}

/**
 * Rewrites every table in the database and renews the write-ahead log. Each table is locked while it is rewritten.
 * @param onTable called before each table
 * @throws StillSeen; errors from the database
 */
export async function rewriteFiles(url: string, onTable?: (name: string) => void): Promise<Rewritten> {
  const client = new pg.Client({ connectionString: url, application_name: 'annal scavenge' });
  await client.connect();
  try {
    await waitForOthers(client);
    const tables = await ownTables(client);
    for (const table of [...tables, STATISTICS]) {
      onTable?.(table);
      // VACUUM FULL writes the remaining rows to new files and drops the old files, including indexes and TOAST.
      await client.query(`VACUUM (FULL, ANALYZE) ${table}`);
    }
    return { tables: tables.length, log: await renewLog(client) };
  } finally {
    await client.end();
  }
}

/** Rewritten last, because it contains column values, which are replaced when the other tables are analysed. */
const STATISTICS = 'pg_catalog.pg_statistic';

/** Returns the quoted names of the database's tables, smallest table first. */
async function ownTables(client: pg.Client): Promise<string[]> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT format('%I.%I', n.nspname, c.relname) AS name
       FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
      WHERE c.relkind IN ('r', 'm') AND n.nspname !~ '^pg_' AND n.nspname <> 'information_schema'
      ORDER BY pg_total_relation_size(c.oid), name`,
  );
  return rows.map(({ name }) => name);
}

/**
 * VACUUM doesn't remove rows that an open transaction may still see, so this waits until every transaction that is open now
 * has ended.
 */
async function waitForOthers(client: pg.Client): Promise<void> {
  const { rows: now } = await client.query<{ horizon: string }>(
    'SELECT pg_snapshot_xmax(pg_current_snapshot()) AS horizon',
  );
  const horizon = now[0]?.horizon;
  for (const until = performance.now() + PATIENCE_MS; ; await delay(LOOK_MS)) {
    const { rows } = await client.query<{ name: string }>(
      `SELECT format('%s (pid %s)', application_name, pid) AS name FROM pg_stat_activity
        WHERE pid <> pg_backend_pid() AND datname = current_database()
          AND age(backend_xmin) > age($1::xid8::xid)`,
      [horizon],
    );
    const [first] = rows;
    if (first === undefined) return;
    if (performance.now() > until) {
      throw new StillSeen(
        `${first.name} has a long-running transaction that may still see the deleted rows; end it and retry`,
      );
    }
  }
}

/**
 * Overwrites or removes every older segment of the write-ahead log, including segments that are kept for reuse, which still
 * contain old data.
 */
async function renewLog(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ may: boolean }>(
    'SELECT rolsuper AS may FROM pg_roles WHERE rolname = current_user',
  );
  if (rows[0]?.may !== true) return false;
  await client.query('ALTER SYSTEM SET wal_recycle = off');
  await client.query('SELECT pg_reload_conf()');
  try {
    await client.query('CHECKPOINT');
    // When PostgreSQL moves to the next segment, it fills the rest of the current one with zeros. So this moves through every
    // segment that is ready for reuse.
    const { rows: ready } = await client.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM pg_ls_waldir() WHERE name > pg_walfile_name(pg_current_wal_lsn())',
    );
    for (let n = 0; n <= (ready[0]?.count ?? 0); n += 1) {
      await client.query("SELECT pg_logical_emit_message(false, 'annal', 'scavenge'), pg_switch_wal()");
    }
    await client.query('CHECKPOINT');
  } finally {
    await client.query('ALTER SYSTEM RESET wal_recycle');
    await client.query('SELECT pg_reload_conf()');
  }
  return true;
}
