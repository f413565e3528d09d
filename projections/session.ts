/** The connection of a projection, separate from those of requests. */
import type pg from 'pg';
import { PrimaryClient } from '#src/database/primary-client.ts';

export interface SessionOptions {
  /** Shown in pg_stat_activity behind `annal`. */
  readonly name: string;
  /** True if it uses temporary tables, which are allowed in a read-only database. */
  readonly scratch?: boolean;
}

/**
 * Settings of every session here. Commits don't wait for the disk. Plans look rows up by key and are kept: one made for
 * a small table must not scan it once it is large.
 */
const SETTINGS = [
  'synchronous_commit=off',
  'jit=off',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
];

/** For the rest of a transaction: allows plans that read whole tables. */
export const WHOLE_TABLES =
  'set local enable_seqscan = on; set local enable_hashjoin = on; set local enable_mergejoin = on';

/**
 * Connects. Commits don't wait for the disk: rows can be derived again, and are lost or kept together with the
 * checkpoint. A broken connection fails its next statement; `ended` is called at once.
 * @throws Error of the driver if the database can't be reached
 */
export async function openSession(
  url: string,
  options: SessionOptions,
  ended?: () => void,
): Promise<pg.Client> {
  const client = new PrimaryClient({
    connectionString: url,
    application_name: `annal ${options.name}`,
    options: [...SETTINGS, ...(options.scratch === true ? ['default_transaction_read_only=off'] : [])]
      .map((setting) => `-c ${setting}`)
      .join(' '),
    keepAlive: true,
    connectionTimeoutMillis: 5_000,
  });
  client.on('error', () => ended?.());
  client.on('end', () => ended?.());
  await client.connect();
  return client;
}

/**
 * Makes the server end a session's statement within seconds when the client is gone, so that a killed process doesn't hold
 * its locks until then. Servers on some systems don't offer this.
 */
export async function endWithClient(client: pg.Client): Promise<void> {
  await client.query("set client_connection_check_interval = '2s'").catch(() => undefined);
}

/** Ends a session, even if the connection is broken. */
export async function closeSession(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined);
}

/** Runs work in a transaction on a session; rolled back when it fails. */
export async function inTransaction<T>(
  client: pg.ClientBase,
  work: () => Promise<T>,
  begin = 'begin',
): Promise<T> {
  await client.query(begin);
  try {
    const result = await work();
    await client.query('commit');
    return result;
  } catch (error) {
    await client.query('rollback').catch(() => undefined);
    throw error;
  }
}
