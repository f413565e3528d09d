/** Making folders that people name. */
import { mkdir, stat } from 'node:fs/promises';
import { dirname } from 'node:path';

/**
 * Makes a folder and those above it; one that is there stays as it is. Node's own `recursive` never returns where the
 * system answers ENOENT for a name in a folder that exists, as it does below /proc.
 * @param mode of the folders that are made, such as 0o700.
 * @throws NodeJS.ErrnoException of the system, also when something else has the name (EEXIST, ENOTDIR).
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

/** Makes one folder; gives the failure, or undefined when it is there. */
async function made(path: string, mode: number): Promise<NodeJS.ErrnoException | undefined> {
  try {
    await mkdir(path, { mode });
    return undefined;
  } catch (error) {
    const there = await stat(path).catch(() => undefined);
    return there?.isDirectory() === true ? undefined : (error as NodeJS.ErrnoException);
  }
}
