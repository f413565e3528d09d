/** If no service is running on a DATA_DIR, starts the embedded database there for one command and stops it afterwards. */
import { lstat } from 'node:fs/promises';
import { join } from 'node:path';
import { readDatabaseUrl } from '#src/config.ts';
import { DataDirInUse, lockDataDir } from '#src/data-dir.ts';
import { startEmbeddedPostgres } from '#src/database/embedded.ts';
import { findDatabaseUrl, requireDatabaseUrl } from './database.ts';
import { Failure } from './failure.ts';
import { findDataDir, type ServiceOptions } from './service.ts';

/** A database that a command reads. */
export interface ReadDatabase {
  readonly url: string;
  /** True if the database was started for this command; then nothing else uses it, and read models don't catch up. */
  readonly stopped: boolean;
}

/** The database options, and the signal that stops the command. */
export interface ReadOptions extends Pick<ServiceOptions, 'dataDir'> {
  /**
   * Stops commands that can stop at their next step. For all other commands, SIGINT and SIGTERM stop the command immediately,
   * together with the database.
   */
  readonly signal?: AbortSignal;
}

/**
 * Runs `work` on a database that it only reads: `DATABASE_URL`, the database of the service that runs on DATA_DIR, or the
 * embedded database there, which is started read-only and stopped afterwards. A restored copy can thus be inspected without a
 * service.
 * @throws Failure if no database is found, or if the DATA_DIR is used by another command or a starting service.
 */
export async function withDatabase<T>(
  options: ReadOptions,
  work: (database: ReadDatabase) => Promise<T>,
): Promise<T> {
  const url = await findDatabaseUrl(options);
  if (url !== undefined) return work({ url, stopped: false });
  const dataDir = findDataDir(options);
  // The error from `requireDatabaseUrl` says where a database can be found.
  if (!(await hasCluster(dataDir))) return work({ url: await requireDatabaseUrl(options), stopped: false });
  process.stderr.write(`annal: no service is running on ${dataDir}; starting its database read-only\n`);
  return withOwnServer(dataDir, { readOnly: true, interruptible: options.signal === undefined }, (started) =>
    work({ url: started, stopped: true }),
  );
}

/**
 * Runs `work` on a database that it may write to: `DATABASE_URL`, otherwise the database in DATA_DIR, which is started only
 * for this.
 */
export async function withStoppedService<T>(
  options: Pick<ServiceOptions, 'dataDir'>,
  work: (databaseUrl: string) => Promise<T>,
): Promise<T> {
  const given = readDatabaseUrl(process.env);
  if (given !== undefined) return work(given);
  const dataDir = findDataDir(options);
  if (!(await hasCluster(dataDir)))
    throw new Failure(
      `${dataDir} has no database: set DATA_DIR to the service’s folder (or DATABASE_URL, if you use your own database)`,
    );
  return withOwnServer(dataDir, { readOnly: false, interruptible: false }, work);
}

async function hasCluster(dataDir: string): Promise<boolean> {
  return (await lstat(join(dataDir, 'postgres')).catch(() => undefined)) !== undefined;
}

/** @param interruptible whether SIGINT and SIGTERM make this function stop the process, after the database has stopped. */
async function withOwnServer<T>(
  dataDir: string,
  { readOnly, interruptible }: { readonly readOnly: boolean; readonly interruptible: boolean },
  work: (databaseUrl: string) => Promise<T>,
): Promise<T> {
  const lock = await lockDataDir(dataDir).catch((error: unknown) => {
    if (error instanceof DataDirInUse)
      throw new Failure(
        `${error.message.replace(/[:;] stop it.*/, '')}: ${readOnly ? 'wait until it has started or stopped' : 'stop it first'}`,
      );
    throw error;
  });
  try {
    const server = await startEmbeddedPostgres({ dataDir, readOnly }).catch((error: unknown) => {
      throw new Failure(error instanceof Error ? error.message : String(error));
    });
    const end = (): void => {
      void server
        .stop()
        .then(() => {
          process.off('exit', abandon);
          return lock.release();
        })
        .finally(() => process.exit(130));
    };
    // A closed pipe (`… | head`) ends the process immediately, but the server must not outlive it.
    const abandon = (): boolean => process.kill(server.pid, 'SIGINT');
    process.once('exit', abandon);
    if (interruptible) process.once('SIGINT', end).once('SIGTERM', end);
    try {
      return await work(server.url);
    } finally {
      process.off('SIGINT', end).off('SIGTERM', end);
      await server.stop();
      process.off('exit', abandon);
    }
  } finally {
    await lock.release();
  }
}
