/** Caches a DATA_DIR as the service's first start leaves it. Copying it takes a tenth of the time of a first start. */
import { execFile } from 'node:child_process';
import { access, chmod, lstat, mkdir, mkdtemp, readdir, rename, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { bundledService } from './bundled-program.ts';

const run = promisify(execFile);
const UNUSED_MS = 86_400_000;

/** Files that a service leaves behind if it doesn't shut down properly. */
const LEFT = ['lock.json', 'database.json', 'postgres/postmaster.pid'];

let prepared: Promise<string> | undefined;

/**
 * Copies a prepared DATA_DIR to an empty folder; does nothing if clusters are stored outside their DATA_DIR.
 * @param start starts and stops a service in a folder; called if there is no prepared DATA_DIR for these sources yet
 */
export async function copyPrepared(to: string, start: (dataDir: string) => Promise<void>): Promise<void> {
  prepared ??= prepare(start);
  const kept = await prepared;
  if ((await lstat(join(kept, 'postgres'))).isSymbolicLink()) return;
  // `-a` preserves the owners.
  await run('cp', ['-a', `${kept}/.`, to]);
}

async function prepare(start: (dataDir: string) => Promise<void>): Promise<string> {
  const root = join(tmpdir(), `annal-test-data-dirs-${process.getuid?.() ?? 0}`);
  await mkdir(root, { recursive: true, mode: 0o711 });
  const kept = join(root, basename(await bundledService()));
  if (await exists(kept)) {
    await utimes(kept, new Date(), new Date());
    return kept;
  }
  const making = await mkdtemp(`${kept}.`);
  try {
    // PostgreSQL's user must be able to traverse this folder.
    await chmod(making, 0o711);
    await start(making);
    for (const name of LEFT) if (await exists(join(making, name))) throw new Error(`${name} was left`);
  } catch (error) {
    await rm(making, { recursive: true, force: true });
    throw error;
  }
  // If another process was faster, its folder is just as good.
  await rename(making, kept).catch(() => rm(making, { recursive: true, force: true }));
  await removeUnused(root);
  return kept;
}

/** Removes folders that no test process has copied from for a day, because no process runs that long. */
async function removeUnused(root: string): Promise<void> {
  for (const name of await readdir(root)) {
    const last = await lstat(join(root, name)).catch(() => undefined);
    if (last === undefined || Date.now() - last.mtimeMs < UNUSED_MS) continue;
    await rm(join(root, name), { recursive: true, force: true });
  }
}

function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
