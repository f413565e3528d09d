/** Brings a database's schemas up to date. */
import type { Knex } from 'knex';
import type pg from 'pg';
import { PrimaryClient } from '#src/database/primary-client.ts';
import { MIGRATIONS, type Migration } from './migrations.ts';

/** Identifies this lock among a database's advisory locks; the number is arbitrary. */
const LOCK = 4_206_107_301;

/**
 * Applies missing migrations in order. If several processes start on one database, one of them applies the migrations; the
 * others wait and then find nothing to do.
 * @returns the names of the applied migrations
 * @throws Error if a later version of Annal migrated the database, PostgreSQL is older than 16, or the server is a standby
 */
export async function migrate(
  databaseUrl: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<string[]> {
  const client = new PrimaryClient({ connectionString: databaseUrl, application_name: 'annal migrate' });
  client.on('error', () => undefined);
  await client.connect();
  try {
    await requireVersion(client);
    await client.query('SELECT pg_advisory_lock($1)', [LOCK]);
    if (await hasAll(client, migrations)) return [];
    await client.query('CREATE SCHEMA IF NOT EXISTS migrations');
    return await applyAll(databaseUrl, migrations);
  } finally {
    await client.end();
  }
}

/** The oldest version of PostgreSQL with all features that the migrations use, in the form of `server_version_num`. */
const OLDEST_VERSION = 160_000;

/**
 * Checks the server's version.
 * @throws Error if the version is too old
 */
async function requireVersion(client: Pick<pg.Client, 'query'>): Promise<void> {
  const { rows } = await client.query<{ number: number; text: string }>(
    `SELECT current_setting('server_version_num')::int AS number, current_setting('server_version') AS text`,
  );
  for (const { number, text } of rows) {
    if (number < OLDEST_VERSION)
      throw new Error(
        `the server is PostgreSQL ${text}; Annal needs PostgreSQL ${OLDEST_VERSION / 10_000} or later`,
      );
  }
}

/**
 * Returns whether exactly these migrations have been applied. If so, Knex isn't loaded, which saves a fifth of the startup
 * time.
 */
async function hasAll(client: pg.Client, migrations: readonly Migration[]): Promise<boolean> {
  const { rows: found } = await client.query(`SELECT 1 WHERE to_regclass('migrations.applied') IS NOT NULL`);
  if (found.length === 0) return false;
  const { rows } = await client.query<{ name: string }>('SELECT name FROM migrations.applied ORDER BY id');
  return rows.length === migrations.length && rows.every(({ name }, at) => name === migrations[at]?.name);
}

async function applyAll(databaseUrl: string, migrations: readonly Migration[]): Promise<string[]> {
  const { default: knex } = await import('knex');
  const database = knex({
    client: 'pg',
    connection: { connectionString: databaseUrl, application_name: 'annal migrate' },
    pool: { min: 0, max: 2 },
    // Failures are thrown; nothing is printed.
    log: { warn: silent, error: silent, deprecate: silent, debug: silent },
    migrations: { schemaName: 'migrations', tableName: 'applied', migrationSource: makeSource(migrations) },
  });
  try {
    // Knex's own lock remains after a process is killed; ours, which this process already holds, doesn't.
    await database.migrate.forceFreeMigrationsLock();
    const [, applied] = (await database.migrate.latest()) as [number, string[]];
    return applied;
  } catch (error) {
    if (!(error instanceof Error && error.message.includes('migration directory is corrupt'))) throw error;
    throw new Error('the database was created by a later version of Annal, or is not an Annal database', {
      cause: error,
    });
  } finally {
    await database.destroy();
  }
}

const silent = (): void => undefined;

/** Provides the migrations from the program itself, so Knex doesn't search the disk. */
function makeSource(migrations: readonly Migration[]): Knex.MigrationSource<Migration> {
  return {
    getMigrations: async () => [...migrations],
    getMigrationName: (migration) => migration.name,
    getMigration: async ({ sql }) => ({
      // Knex would treat a question mark as a binding.
      up: (transaction) => transaction.raw(sql.replaceAll('?', '\\?')),
      down: async () => undefined,
    }),
  };
}
