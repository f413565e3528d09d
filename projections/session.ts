/** A projection's own connection: what runs over it must not wait behind requests. */
import pg from 'pg';

/** How a session is opened. */
export interface SessionOptions {
  /** Shown in pg_stat_activity behind `annal`. */
  readonly name: string;
  /** Whether it keeps scratch tables of its own, which it may in a database that is otherwise only read. */
  readonly scratch?: boolean;
}

/**
 * Settings of every session here. Commits do not wait for the disk. Rows are looked up by key, and plans are kept:
 * one made while a table was small must not go on reading it from end to end once it is large.
 */
const SETTINGS = [
  'synchronous_commit=off',
  'jit=off',
  'enable_seqscan=off',
  'enable_hashjoin=off',
  'enable_mergejoin=off',
];

/** For the rest of a transaction: plans for statements that do read whole tables. */
export const WHOLE_TABLES =
  'set local enable_seqscan = on; set local enable_hashjoin = on; set local enable_mergejoin = on';

/**
 * Connects. Commits do not wait for the disk: rows are re-derivable, and rows and checkpoint are lost or kept together.
 * A connection that breaks fails its next statement; `ended` is told at once.
 * @throws Error of the driver when the database cannot be reached.
 */
export async function openSession(
  url: string,
  options: SessionOptions,
  ended?: () => void,
): Promise<pg.Client> {
  const client = new pg.Client({
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

/** Ends a session, also one whose other end is gone. */
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
