/** Determines the operating-system user for PostgreSQL, which refuses to run as root. */
import { execFile, spawnSync } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Users as which a root process may run PostgreSQL; the first one that exists is used. */
const CANDIDATES = ['postgres', '_postgres', 'nobody'];

/** The user that a child process runs as. */
export interface SystemUser {
  readonly uid: number;
  readonly gid: number;
}

/**
 * Returns the user that PostgreSQL runs as; undefined means this process's user, if that isn't root. For root, it is the owner
 * of an existing cluster, otherwise `postgres`, otherwise `nobody`.
 * @param cluster the cluster's folder; it needn't exist
 * @throws Error if root finds no such user
 */
export async function postgresUser(cluster: string): Promise<SystemUser | undefined> {
  if (process.getuid?.() !== 0) return undefined;
  const owner = await stat(cluster).catch(() => undefined);
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid };
  for (const name of CANDIDATES) {
    const uid = await readId('-u', name);
    const gid = await readId('-g', name);
    if (uid !== undefined && gid !== undefined) return { uid, gid };
  }
  throw new Error(
    `PostgreSQL cannot run as root, and none of the users ${CANDIDATES.join(', ')} exists: ` +
      'start Annal as an ordinary user, or set DATABASE_URL',
  );
}

/** Runs `id -u name`, which, unlike a look at /etc/passwd, also searches directory services. */
async function readId(flag: '-u' | '-g', name: string): Promise<number | undefined> {
  try {
    return Number((await run('id', [flag, name])).stdout.trim());
  } catch {
    return undefined;
  }
}

/**
 * Returns whether a user may enter a folder and, if a file is given, read that file in it. This asks the system, so ACLs are
 * taken into account.
 */
export function canReach(user: SystemUser, folder: string, file?: string): boolean {
  const script = file === undefined ? 'cd "$1"' : 'cd "$1" && test -r "$2"';
  const asked = spawnSync('/bin/sh', ['-c', script, 'sh', folder, file ?? ''], {
    ...user,
    cwd: '/',
    stdio: 'ignore',
  });
  return asked.status === 0;
}
