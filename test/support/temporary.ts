/** Creates folders for test files. */
import { chmod, lstat, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SHARED_ROOT } from '#src/database/placement.ts';

/**
 * Prefix of the names of all temporary folders. In a full run, the prefix contains the run's number, which the run uses to
 * find leftover folders.
 */
export const TEMPORARY = `annal-test-${process.env.ANNAL_TEST_RUN ?? 'alone'}-`;

const made: string[] = [];

/**
 * Creates a folder in the system's temporary folder.
 * @param open whether other users may traverse the folder; otherwise only its owner may, as `mkdtemp` creates it
 */
export async function temporaryFolder(open = true): Promise<string> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), TEMPORARY));
  if (open) await chmod(folder, 0o711);
  made.push(folder);
  return folder;
}

/** Removes the folders that this process created, including the clusters that DATA_DIRs in them link to. Call it in `after`. */
export async function removeTemporaryFolders(): Promise<void> {
  for (const folder of made.splice(0)) {
    const cluster = join(folder, 'postgres');
    if ((await lstat(cluster).catch(() => undefined))?.isSymbolicLink()) {
      const place = dirname(await realpath(cluster).catch(() => ''));
      if (place.startsWith(`${SHARED_ROOT}/`)) await rm(place, { recursive: true, force: true });
    }
    await rm(folder, { recursive: true, force: true });
  }
}

/** Removes them when mocha runs files without `npm test`, which removes the folders of its whole run at the end. */
export const mochaHooks = {
  async afterAll(): Promise<void> {
    if (process.env.ANNAL_TEST_RUN === undefined) await removeTemporaryFolders();
  },
};
