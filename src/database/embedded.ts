/**
 * Runs the embedded PostgreSQL: real binaries from npm, and one cluster in DATA_DIR that can only be reached through a Unix
 * socket. Supports Linux and macOS, as an ordinary user or as root.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmod, chown, mkdtemp, open, readFile, realpath, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import pg from 'pg';
import { makeFolder } from '#src/shared/make-folder.ts';
import { postgresBinaries } from './binaries.ts';
import { type ClusterSetup, ensureCluster, lastLines, surroundings } from './cluster.ts';
import { clusterFolder, SHARED_ROOT } from './placement.ts';
import { clearDead, clearOrphan, removeSocketFolder, SOCKET_PREFIX, stopServer } from './postmaster.ts';
import { NAME, PORT, serverSettings } from './settings.ts';
import { canReach, postgresUser, type SystemUser } from './system-user.ts';

/**
 * The path of a Unix socket can have at most 107 bytes on Linux and 103 on macOS; this limit leaves room for the socket's
 * name.
 */
const LONGEST_SOCKET_FOLDER = 85;

/** Options for the embedded server. */
export interface EmbeddedOptions {
  /** DATA_DIR; the cluster is its folder `postgres`, which is created if missing. The caller holds the lock on DATA_DIR. */
  readonly dataDir: string;
  /** Receives progress messages. */
  readonly log?: (message: string) => void;
  /**
   * True if sessions can't write unless they explicitly ask to (`default_transaction_read_only`). A cluster must already
   * exist. Default: false.
   */
  readonly readOnly?: boolean;
  /** False only in tests; a crash of the machine may then lose everything. Default: true. */
  readonly fsync?: boolean;
}

/** A running server. */
export interface EmbeddedPostgres {
  /** A `postgres://` URL for `pg`, through the Unix socket. */
  readonly url: string;
  readonly pid: number;
  /** Resolves with the server's last lines of output if it exits without a call to `stop`. */
  readonly died: Promise<string>;
  /**
   * Restarts the server at the same URL after it died, as soon as none of its processes are left.
   * @throws the same errors as `startEmbeddedPostgres`
   */
  restart(): Promise<EmbeddedPostgres>;
  /**
   * Stops the server with a fast shutdown: open transactions are rolled back, and everything is flushed to disk. Idempotent.
   */
  stop(): Promise<void>;
}

/**
 * Starts PostgreSQL on DATA_DIR. Creates the cluster the first time, and stops processes that an unclean exit left running.
 * The server has its own process group, so that Ctrl-C in the terminal reaches only the service, which then stops the server.
 * @throws Error with a message and the server's last lines of output, if the server can't run here or doesn't start.
 */
export async function startEmbeddedPostgres(options: EmbeddedOptions): Promise<EmbeddedPostgres> {
  const log = options.log ?? (() => undefined);
  await makeFolder(options.dataDir, 0o711);
  const user = await postgresUser(join(options.dataDir, 'postgres'));
  const spare = user === undefined ? await realpath(options.dataDir) : SHARED_ROOT;
  const binaries = await postgresBinaries(user, spare);
  const cluster = await clusterFolder(options.dataDir, user);
  await clearOrphan(cluster, log);
  const { readOnly = false, fsync = true } = options;
  const server: ClusterSetup = { binaries, cluster, user, log, fsync, readOnly };
  await ensureCluster(server);
  const logFile = join(options.dataDir, 'postgres.log');
  const sockets = await socketFolder(user);
  try {
    return await startServer(server, sockets, logFile);
  } catch (error) {
    await removeSocketFolder(sockets);
    throw error;
  }
}

/** Creates a folder for the socket that has a short path and is accessible only to the user. */
async function socketFolder(user: SystemUser | undefined): Promise<string> {
  const preferred = await realpath(tmpdir()).catch(() => '/tmp');
  const fits = Buffer.byteLength(preferred) + SOCKET_PREFIX.length + 7 <= LONGEST_SOCKET_FOLDER;
  const base = fits && (user === undefined || canReach(user, preferred)) ? preferred : '/tmp';
  const folder = await mkdtemp(join(base, SOCKET_PREFIX));
  await chmod(folder, 0o700);
  if (user !== undefined) await chown(folder, user.uid, user.gid);
  return folder;
}

async function startServer(setup: ClusterSetup, sockets: string, logFile: string): Promise<EmbeddedPostgres> {
  const { size } = await stat(logFile).catch(() => ({ size: 0 }));
  const kept = size < 1_000_000 ? size : 0;
  const output = await open(logFile, kept === 0 ? 'w' : 'a', 0o600);
  const child = spawn(setup.binaries.postgres, ['-D', setup.cluster, ...serverSettings(sockets, setup)], {
    ...surroundings(setup.user),
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
  });
  const ended = once(child, 'exit').catch((error: unknown) => error);
  const [spawned] = await Promise.race([once(child, 'spawn'), ended.then((error) => [error])]);
  await output.close();
  const { pid } = child;
  if (pid === undefined) throw new Error(`cannot run PostgreSQL: ${spawned}`);
  const lastWords = async (): Promise<string> =>
    lastLines((await readFile(logFile)).subarray(kept).toString());

  let stopping: Promise<void> | undefined;
  const stop = (): Promise<void> => {
    stopping ??= stopChild(child, pid, ended).then(() => removeSocketFolder(sockets));
    return stopping;
  };
  const restart = async (): Promise<EmbeddedPostgres> => {
    await clearDead(setup.cluster, sockets);
    return startServer(setup, sockets, logFile);
  };
  try {
    await accepting(child, sockets, setup);
  } catch (error) {
    // The socket folder is kept for the next attempt; `startEmbeddedPostgres` removes it.
    await stopChild(child, pid, ended);
    throw new Error(`PostgreSQL did not start: ${(await lastWords()) || String(error)}`, { cause: error });
  }
  child.unref();
  const died = ended.then(async () => {
    // A requested stop isn't a failure.
    if (stopping !== undefined) await new Promise(() => undefined);
    return lastWords();
  });
  const url = `postgres://${NAME}@localhost:${PORT}/${NAME}?host=${encodeURIComponent(sockets)}&sslmode=disable`;
  return { url, pid, died, restart, stop };
}

async function stopChild(child: ChildProcess, pid: number, ended: Promise<unknown>): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.ref();
  await stopServer(pid, async () => child.exitCode === null && child.signalCode === null);
  await ended;
}

/** Waits until the server accepts connections, however long its recovery takes; creates the database the first time. */
async function accepting(
  child: ChildProcess,
  sockets: string,
  { log, readOnly }: Pick<ClusterSetup, 'log' | 'readOnly'>,
): Promise<void> {
  const began = Date.now();
  let told = 0;
  for (;;) {
    if (child.exitCode !== null || child.signalCode !== null) throw new Error('it exited');
    try {
      await (readOnly ? connected(sockets, NAME, () => Promise.resolve()) : makeDatabase(sockets));
      return;
    } catch (error) {
      const { code } = error as { code?: string };
      // The socket doesn't exist yet, or the server is still starting.
      if (code !== 'ENOENT' && code !== 'ECONNREFUSED' && code !== '57P03') throw error;
    }
    const seconds = Math.floor((Date.now() - began) / 10_000) * 10;
    if (seconds > told) log(`PostgreSQL is still recovering after ${seconds} s`);
    told = seconds;
    await pause(5);
  }
}

function makeDatabase(sockets: string): Promise<void> {
  return connected(sockets, 'postgres', async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [NAME]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${NAME}`);
  });
}

async function connected(
  sockets: string,
  database: string,
  work: (client: pg.Client) => Promise<void>,
): Promise<void> {
  const client = new pg.Client({ host: sockets, port: PORT, user: NAME, database, ssl: false });
  // If the connection breaks, the query that it interrupts reports the error.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await work(client);
  } finally {
    await client.end();
  }
}
