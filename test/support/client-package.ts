/**
 * The TypeScript client as users get it: built, packed and installed in a folder, with the examples from docs/examples/client.
 */
import { execFile } from 'node:child_process';
import { copyFile, cp, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { ROOT } from './process.ts';
import { temporaryFolder } from './temporary.ts';

const SOURCE = join(ROOT, 'clients', 'typescript');
const TSC = join(ROOT, 'node_modules', 'typescript', 'bin', 'tsc');
/** The strictest compiler settings, which also check the type declarations of libraries. */
const COMPILER = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  module: 'NodeNext',
  target: 'ES2022',
  lib: ['ES2022', 'DOM', 'DOM.Iterable'],
  types: [],
  noEmit: true,
};

/** The parts of Node's types that the examples use. */
const ENVIRONMENT = 'declare const process: { env: { ANNAL_KEY: string; ID_TOKEN: string } };\n';
const NODE = `declare module 'node:fs/promises' {
  export function readFile(path: string, encoding: 'utf8'): Promise<string>;
}\n`;

/** A folder with the package installed. */
export interface ClientPackage {
  readonly folder: string;
  /** The names of the packed files. */
  readonly files: readonly string[];
  /**
   * Compiles the TypeScript files in the folder.
   * @returns the compiler's output; empty if there are no errors
   */
  check(): Promise<string>;
  /** Returns a browser script built from a module's text, as the global `name`. */
  bundle(text: string, name?: string): Promise<string>;
}

/** Writes each example in the READMEs and docs that uses the client to a file of its own, which the compiler then checks. */
async function extractExamples(to: string): Promise<void> {
  const guides = (await readdir(join(ROOT, 'docs'))).filter((name) => name.endsWith('.md'));
  const pages = ['README.md', 'clients/typescript/README.md', ...guides.map((name) => `docs/${name}`)];
  await writeFile(join(to, 'node.d.ts'), NODE);
  for (const page of pages) {
    const text = await readFile(join(ROOT, page), 'utf8');
    const blocks = [...text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
    for (const [i, code] of blocks.filter((each) => each.includes('@annal/client')).entries())
      await writeFile(join(to, `${page.replaceAll('/', '-')}-${i}.ts`), `${code}${ENVIRONMENT}`);
  }
}

/** Builds, packs and installs the client. */
export async function packClient(): Promise<ClientPackage> {
  const folder = await temporaryFolder();
  const draft = join(folder, 'draft');
  await mkdir(draft);
  const config = join(SOURCE, 'tsconfig.build.json');
  await promisify(execFile)(process.execPath, [TSC, '-p', config, '--outDir', join(draft, 'dist')]);
  for (const name of ['package.json', 'README.md']) await copyFile(join(SOURCE, name), join(draft, name));
  const npm = ['pack', '--json', '--ignore-scripts', '--offline'];
  const { stdout } = await promisify(execFile)('npm', npm, { cwd: draft });
  const [packed] = JSON.parse(stdout) as { filename: string; files: { path: string }[] }[];
  if (packed === undefined) throw new Error('npm packed nothing');
  const installed = join(folder, 'node_modules', '@annal', 'client');
  await mkdir(installed, { recursive: true });
  const tar = ['-xzf', join(draft, packed.filename), '-C', installed, '--strip-components=1'];
  await promisify(execFile)('tar', tar);
  await writeFile(join(folder, 'package.json'), '{"type": "module"}');
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: COMPILER, files: [] }));
  await cp(join(ROOT, 'docs', 'examples', 'client'), join(folder, 'examples'), { recursive: true });
  await copyFile(join(SOURCE, 'test', 'types.ts'), join(folder, 'types.ts'));
  await extractExamples(join(folder, 'examples'));
  return {
    folder,
    files: packed.files.map(({ path }) => path),
    async check() {
      const config = { compilerOptions: COMPILER, include: ['types.ts', 'examples'] };
      await writeFile(join(folder, 'tsconfig.json'), JSON.stringify(config));
      const run = promisify(execFile)(process.execPath, [TSC, '-p', folder]);
      return run.then(
        () => '',
        (error: { stdout?: string }) => error.stdout ?? String(error),
      );
    },
    async bundle(text, name) {
      const { outputFiles } = await build({
        stdin: { contents: text, resolveDir: folder, loader: 'ts' },
        bundle: true,
        minify: true,
        write: false,
        target: 'es2022',
        format: name === undefined ? 'esm' : 'iife',
        ...(name !== undefined && { globalName: name }),
      });
      return outputFiles[0]?.text ?? '';
    },
  };
}
