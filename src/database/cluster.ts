/** Manages the embedded cluster: the files in which PostgreSQL keeps everything. */
import { execFile } from 'node:child_process';
import { chown, mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { PostgresBinaries } from './binaries.ts';
import { giveTo } from './placement.ts';
import { NAME } from './settings.ts';
import type { SystemUser } from './system-user.ts';

const run = promisify(execFile);

/** The cluster, its executables, its user and its settings. */
export interface ClusterSetup {
  readonly binaries: PostgresBinaries;
  /** The cluster's real path; its parent folder exists. */
  readonly cluster: string;
  readonly user: SystemUser | undefined;
  readonly log: (message: string) => void;
  readonly fsync: boolean;
  /** True if sessions are read-only by default; in that case, no cluster is created. */
  readonly readOnly: boolean;
}

/**
 * Creates the cluster if it doesn't exist.
 * @throws Error if the folder contains a cluster of another version or another user, or something else
 */
export async function ensureCluster(setup: ClusterSetup): Promise<void> {
  const { binaries, cluster, user } = setup;
  const version = await readClusterVersion(cluster);
  if (version === undefined && setup.readOnly) throw new Error(`${cluster} contains no database`);
  if (version === undefined) return makeCluster(setup);
  if (version !== binaries.major) {
    throw new Error(
      `${cluster} was made by PostgreSQL ${version}, and this version of Annal includes ${binaries.major}: ` +
        'dump the data with that version of PostgreSQL and set DATABASE_URL to a server that has it, or use another DATA_DIR',
    );
  }
  if (user !== undefined && (await stat(cluster)).uid === 0) await giveTo(user, cluster);
}

async function readClusterVersion(cluster: string): Promise<string | undefined> {
  try {
    return (await readFile(join(cluster, 'PG_VERSION'), 'utf8')).trim();
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT') return undefined;
    throw new Error(`${cluster} cannot be read (${code}): start Annal as the user who created it`, {
      cause: error,
    });
  }
}

/**
 * Creates the cluster in a folder next to its final location, and renames the folder when it is complete, so that an initdb
 * that was killed leaves nothing in that location.
 */
async function makeCluster({ binaries, cluster, user, log, fsync }: ClusterSetup): Promise<void> {
  log('making a new PostgreSQL cluster');
  const parent = dirname(cluster);
  const unfinished = `${basename(cluster)}.initdb-`;
  for (const entry of await readdir(parent)) {
    if (entry.startsWith(unfinished)) await rm(join(parent, entry), { recursive: true, force: true });
  }
  const building = join(parent, `${unfinished}${process.pid}`);
  await mkdir(building, { mode: 0o700 });
  if (user !== undefined) await chown(building, user.uid, user.gid);
  const locale = ['--encoding=UTF8', '--locale=C', '--locale-provider=builtin', '--builtin-locale=C.UTF-8'];
  // `trust` is safe, because only the cluster's owner can open the socket's folder, and the socket is the only way to connect
  // to the cluster.
  const access = [`--username=${NAME}`, '--auth-local=trust', '--auth-host=reject', '--no-instructions'];
  const haste = fsync ? [] : ['--no-sync'];
  try {
    await run(binaries.initdb, [`--pgdata=${building}`, ...locale, ...access, ...haste], surroundings(user));
    await rename(building, cluster);
  } catch (error) {
    await rm(building, { recursive: true, force: true });
    const { code, stderr } = error as { code?: unknown; stderr?: string };
    if (code === 'ENOTEMPTY')
      throw new Error(
        `${cluster} contains files but no database; set another DATA_DIR, or empty this folder`,
        { cause: error },
      );
    throw new Error(`PostgreSQL's initdb failed: ${lastLines(stderr || String(error))}`, { cause: error });
  }
}

/**
 * Returns the environment for PostgreSQL's processes. It contains nothing from the service's environment, which may include
 * secrets.
 */
export function surroundings(user: SystemUser | undefined): {
  env: NodeJS.ProcessEnv;
  cwd: string;
  uid?: number;
  gid?: number;
} {
  return { env: { PATH: process.env.PATH, HOME: '/', LC_ALL: 'C', TZ: 'UTC' }, cwd: '/', ...user };
}

/** Returns the last lines of a program's output, for an error message. */
export function lastLines(text: string): string {
  return text.trim().split('\n').slice(-5).join('\n');
}
