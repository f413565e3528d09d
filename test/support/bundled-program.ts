/** Bundles test programs like the service, because loading their sources one by one takes seconds at each start. */
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './process.ts';

interface Bundler {
  readonly bundled: (program?: {
    readonly entries: Readonly<Record<string, string>>;
    readonly folders: readonly string[];
  }) => Promise<string | undefined>;
}

/** Returns the folder of the service's own bundle, named by a digest of its sources. */
export async function bundledService(): Promise<string> {
  return folderOf();
}

/**
 * Returns a program's bundle, which is cached until its sources change.
 * @param source a path below the repository
 */
export async function bundledProgram(source: string): Promise<string> {
  const folders = ['src', 'commands', 'projections', 'queries', 'test'];
  return join(await folderOf({ entries: { program: source }, folders }), 'program.mjs');
}

async function folderOf(...program: Parameters<Bundler['bundled']>): Promise<string> {
  // The module is plain JavaScript without types.
  const { bundled }: Bundler = await import(pathToFileURL(join(ROOT, 'bin/program.js')).href);
  const folder = await bundled(...program);
  if (folder === undefined) throw new Error('node_modules cannot be written to');
  return folder;
}
