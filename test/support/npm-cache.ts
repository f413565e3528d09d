/**
 * Installs packages that only a few tests need below node_modules/.cache, when a test first needs them, so that `npm ci` stays
 * small.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { ROOT } from './process.ts';

const CACHE = join(ROOT, 'node_modules', '.cache');
/** npm's error codes for a registry that can't be reached or doesn't have the package. */
const NOT_TO_BE_HAD =
  /npm (?:error|ERR!) code (E403|E404|ETARGET|ENOTCACHED|ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ENETUNREACH|ETIMEDOUT|ERR_SOCKET_TIMEOUT)/;
const OPTIONS = ['--ignore-scripts', '--no-audit', '--no-fund', '--fetch-retries=1'];

/** A folder with packages, or the reason why the registry doesn't provide them. */
export type Installed = { readonly folder: string } | { readonly missing: string };

/**
 * Returns a cache folder, after filling it if it doesn't exist yet.
 * @param name a path below the cache
 * @param command npm's command and its arguments
 * @param prepare adds files to the folder before npm runs; `check` inspects the folder afterwards
 * @throws Error if npm fails for a reason other than the registry
 */
export async function installOnce(
  name: string,
  command: readonly string[],
  {
    prepare,
    check,
  }: {
    readonly prepare?: (draft: string) => Promise<void>;
    readonly check?: (draft: string) => Promise<void>;
  },
): Promise<Installed> {
  const folder = join(CACHE, name);
  if (existsSync(folder)) return { folder };
  await mkdir(dirname(folder), { recursive: true });
  const draft = await mkdtemp(`${folder}.`);
  try {
    await prepare?.(draft);
    const failure = await runNpm(draft, command);
    if (failure !== undefined) return { missing: failure };
    await check?.(draft);
    // Another run may have installed it in the meantime.
    await rename(draft, folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
    });
    return { folder };
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function runNpm(prefix: string, command: readonly string[]): Promise<string | undefined> {
  try {
    await promisify(execFile)('npm', [...command, '--prefix', prefix, ...OPTIONS], { timeout: 240_000 });
    return undefined;
  } catch (error) {
    const code = NOT_TO_BE_HAD.exec(error instanceof Error ? error.message : '')?.[1];
    if (code === undefined) throw error;
    return `npm can't run ${command.join(' ')} (${code})`;
  }
}
