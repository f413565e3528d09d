/** A DATA_DIR as the first start of the service leaves it, kept to be copied: that takes a tenth of what the start does. */
import { execFile } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { bundledService } from './bundled-program.ts';

const run = promisify(execFile);
const UNUSED_MS = 86_400_000;

/**
 * Copies one to an empty folder.
 * @param start makes one in a folder, when there is none of these sources yet
 */
export async function copyPrepared(to: string, start: (dataDir: string) => Promise<void>): Promise<void> {
  const root = join(tmpdir(), `annal-test-data-dirs-${process.getuid?.() ?? 0}`);
  await mkdir(root, { recursive: true, mode: 0o711 });
  const kept = join(root, basename(await bundledService()));
  if (!(await lstat(kept).catch(() => undefined))) {
    const making = `${kept}.${process.pid}`;
    await mkdir(making);
    // The user that PostgreSQL runs as passes through it.
    await chmod(making, 0o711);
    await start(making);
    // Another process may have been faster: its folder is as good.
    await rename(making, kept).catch(() => rm(making, { recursive: true, force: true }));
    await removeUnused(root);
  }
  // `-a` keeps the owners.
  await run('cp', ['-a', `${kept}/.`, to]);
}

async function removeUnused(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const made = await stat(join(root, name)).catch(() => undefined);
    if (made === undefined || Date.now() - made.mtimeMs < UNUSED_MS) continue;
    await rm(join(root, name), { recursive: true, force: true });
  }
}
