/** Bundles a program's renderer into one script that needs no other files or packages, so that the renderer can be archived. */
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Plugin } from 'esbuild';
import { hashCode } from '#src/operations/receipts/program.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const CACHE = join('node_modules', '.cache', 'annal');

/** The global name of the script's exports. */
export const GLOBAL = 'annalRenderer';

/**
 * Returns the script with the program's renderer.
 * @param root the program's root directory
 */
export async function bundleRenderer(root = ROOT): Promise<Buffer> {
  const file = join(root, CACHE, `renderer-${hashCode(root)}.js`);
  if (existsSync(file)) return readFile(file);
  const code = await bundle(root);
  await keep(file, code).catch(() => undefined);
  return code;
}

async function bundle(root: string): Promise<Buffer> {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join('src', 'receipts', 'render.ts')],
    ...{ bundle: true, format: 'iife', globalName: GLOBAL, platform: 'node', target: 'node20' },
    ...{ minify: true, write: false, logLevel: 'error', plugins: [WITH_FILES] },
  });
  return Buffer.from(outputFiles?.[0]?.contents ?? '');
}

/** Match a file that a module reads when it is loaded, and a package that it loads. */
const READ = /readFileSync\(\s*new URL\('([^']+)', import\.meta\.url\),\s*'utf8',?\s*\)/g;
const REQUIRED = /createRequire\(import\.meta\.url\)/g;

/** Inlines files into the modules that read them, because the script can't read other files. */
const WITH_FILES: Plugin = {
  name: 'with-files',
  setup(build) {
    build.onLoad({ filter: /[\\/]src[\\/].*\.ts$/ }, ({ path }) => {
      const source = readFileSync(path, 'utf8');
      if (!source.includes('import.meta.url')) return undefined;
      const contents = source
        .replace(READ, (_, name: string) => JSON.stringify(readFileSync(join(dirname(path), name), 'utf8')))
        .replace(REQUIRED, 'require');
      return { contents, loader: 'ts' };
    });
  },
};

async function keep(file: string, code: Buffer): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  const beside = `${file}.${process.pid}`;
  await writeFile(beside, code);
  await rename(beside, file);
}
