/** Creates folders that users specify. */
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Creates a folder and its parents; an existing folder stays unchanged. Node's `recursive` option isn't used, because it never
 * returns if the system reports ENOENT for a name in an existing folder, as happens under /proc.
 * @param mode of new folders, such as 0o700
 * @throws NodeJS.ErrnoException from the system, also if there is a file with that name (EEXIST, ENOTDIR)
 */
export async function makeFolder(path: string, mode: number): Promise<void> {
  const failure = await made(path, mode);
  if (failure === undefined) return;
  const parent = dirname(path);
  if (failure.code !== 'ENOENT' || parent === path) throw failure;
  await makeFolder(parent, mode);
  const again = await made(path, mode);
  if (again !== undefined) throw again;
}

/** Creates one folder; returns the failure, or undefined if the folder exists. */
async function made(path: string, mode: number): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(path, { mode });
    return undefined;
  } catch (error) {
    const there = await stat(path).catch(() => undefined);
    return there?.isDirectory() === true ? undefined : (error as NodeJS.ErrnoException);
  }
}
