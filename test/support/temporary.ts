/** Folders that a test may fill. */
import { chmod, lstat, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { SHARED_ROOT } from '#src/database/placement.ts';

/** How the names of all temporary folders begin. Of a whole run they bear its number, by which it finds what is left of them. */
export const TEMPORARY = `annal-test-${process.env.ANNAL_TEST_RUN ?? 'alone'}-`;

const made: string[] = [];

/**
 * Returns a new folder in the system's temporary one.
 * @param open whether other users may pass through it; one that only its owner may enter is what `mkdtemp` makes.
 */
export async function temporaryFolder(open = true): Promise<string> {
  const folder = await mkdtemp(join(await realpath(tmpdir()), TEMPORARY));
  if (open) await chmod(folder, 0o711);
  made.push(folder);
  return folder;
}

/** Removes what this process made, with the clusters that DATA_DIRs in there link to. To be called in `after`. */
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
