/** A projection's connection, separate from the connections for requests. */
import type pg from 'pg';
import { PrimaryClient } from '#src/database/primary-client.ts';

export interface SessionOptions {
  /** The session's name in pg_stat_activity, where it follows `annal`. */
  readonly name: string;
  /** True if the session uses temporary tables, which are allowed in a read-only database. */
  readonly scratch?: boolean;
}

/**
 * Settings for every session of this kind. Commits don't wait for the disk. Plans look up rows by key and are kept, because a
 * plan that was made for a small table must not scan the table once it is large.
 */
const SETTINGS = [
  'synchronous_commit=off',
  'jit=off',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
];

/** Allows plans that read whole tables for the rest of a transaction. */
export const WHOLE_TABLES =
  'set local enable_seqscan = on; set local enable_hashjoin = on; set local enable_mergejoin = on';

/**
 * Connects. Commits don't wait for the disk: rows can be derived again, and are lost or kept together with the checkpoint. If
 * the connection breaks, its next statement fails, and `ended` is called immediately.
 * @throws the driver's error if the database can't be reached
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
 * Makes the server stop a session's statement within seconds after the client is gone, so that a killed process doesn't hold
 * its locks until the statement ends. Servers don't support this on all systems.
 */
export async function endWithClient(client: pg.Client): Promise<void> {
  await client.query("set client_connection_check_interval = '2s'").catch(() => undefined);
}

/** Ends a session, even if the connection is broken. */
export async function closeSession(client: pg.Client): Promise<void> {
  await client.end().catch(() => undefined);
}

/** Runs work in a transaction on a session; rolls back if the work fails. */
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
