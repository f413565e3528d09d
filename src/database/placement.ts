/** Chooses the folder for the embedded cluster: inside DATA_DIR, or outside if only root may enter DATA_DIR. */
import { createHash } from 'node:crypto';
import {
  chmod,
  cp,
  lchown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  realpath,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { canReach, type SystemUser } from './system-user.ts';

/** Owned by root; everyone may pass through it to the folders below. */
export const SHARED_ROOT = '/var/lib/annal';

/**
 * Returns the cluster's folder, whose parent exists. For ordinary users, it is `DATA_DIR/postgres`. Root runs PostgreSQL as
 * `user`, so for root it is the same folder only if `user` can reach it; otherwise it is `/var/lib/annal/<hash of
 * DATA_DIR>/postgres`, and `DATA_DIR/postgres` is a symbolic link to it.
 * @throws Error if the link points to a cluster that another DATA_DIR still uses
 */
export async function clusterFolder(dataDir: string, user: SystemUser | undefined): Promise<string> {
  const home = await realpath(dataDir);
  const inside = join(home, 'postgres');
  const found = await lstat(inside).catch(() => undefined);
  if (found?.isSymbolicLink()) {
    const target = await readlink(inside);
    if (await lstat(target).catch(() => undefined)) return adopt(target, home);
    await rm(inside);
  }
  if (user === undefined || canReach(user, home)) return inside;
  return moveOutside(home, inside, found?.isDirectory() === true);
}

/** Makes the user the owner of a cluster's files. PostgreSQL requires this, and a restored backup may belong to root. */
export async function giveTo(user: SystemUser, folder: string): Promise<void> {
  await lchown(folder, user.uid, user.gid);
  await chmod(folder, 0o700);
  for (const entry of await readdir(folder, { withFileTypes: true, recursive: true })) {
    await lchown(join(entry.parentPath, entry.name), user.uid, user.gid);
  }
}

async function moveOutside(home: string, inside: string, exists: boolean): Promise<string> {
  const place = join(SHARED_ROOT, createHash('sha256').update(home).digest('hex').slice(0, 16));
  for (const folder of [SHARED_ROOT, place]) {
    await mkdir(folder, { recursive: true });
    await chmod(folder, 0o711);
  }
  const outside = join(place, 'postgres');
  if (await lstat(outside).catch(() => undefined)) {
    // The DATA_DIR was deleted and recreated. The old data no longer belongs to it, but must not be deleted either.
    await rename(outside, `${outside}.${new Date().toISOString().replaceAll(':', '')}`);
  }
  if (exists) await move(inside, outside);
  await writeFile(join(place, OWNER), home);
  await symlink(outside, inside);
  return outside;
}

/** A file next to a cluster outside DATA_DIR, which contains the path of that DATA_DIR. */
const OWNER = 'data-dir';

/** Takes over a cluster. A DATA_DIR that was moved keeps its cluster; a copy of a DATA_DIR must not share it. */
async function adopt(target: string, home: string): Promise<string> {
  const note = join(dirname(target), OWNER);
  const owner = await readFile(note, 'utf8').catch(() => home);
  if (owner === home) return target;
  const other = await readlink(join(owner, 'postgres')).catch(() => undefined);
  if (other === target) {
    throw new Error(
      `${join(home, 'postgres')} links to the database of ${owner}: remove the link to start with an empty database`,
    );
  }
  await writeFile(note, home);
  return target;
}

async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await cp(from, to, { recursive: true, preserveTimestamps: true, verbatimSymlinks: true });
    await rm(from, { recursive: true });
  }
}
