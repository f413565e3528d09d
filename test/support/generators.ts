/** Runs code generators on an OpenAPI document (test/generators/package.json lists their versions). */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { installOnce } from './npm-cache.ts';
import { ROOT } from './process.ts';

const SOURCE = join(ROOT, 'test', 'generators');
const PACKAGES = ['package.json', 'package-lock.json', '.npmrc'];
const PROGRAMS = ['lint.mjs', 'postman.mjs', 'redocly.yaml', '.redocly.lint-ignore.yaml'];

/** A folder for this run, from which the generators' packages can be imported. */
export interface Generators {
  /** Its path. */
  readonly folder: string;
  /**
   * Runs one of the programs in the folder, `node` or `tsx`.
   * @returns its output
   * @throws Error with its output if it fails
   */
  run(program: string, args: readonly string[], env?: Readonly<Record<string, string>>): Promise<string>;
  /** Removes the folder. */
  remove(): Promise<void>;
}

/** Installs the generators, unless they are already installed; different versions use different folders. */
export async function openGenerators(): Promise<Generators | { readonly missing: string }> {
  const lock = await readFile(join(SOURCE, 'package-lock.json'));
  const name = `annal-generators-${createHash('sha256').update(lock).digest('hex').slice(0, 12)}`;
  const installed = await installOnce(name, ['ci'], { prepare: (draft) => copy(PACKAGES, draft) });
  if ('missing' in installed) return installed;
  const folder = await mkdtemp(join(installed.folder, 'run.'));
  await copy(PROGRAMS, folder);
  return {
    folder,
    run: (program, args, env = {}) => run(installed.folder, folder, program, args, env),
    remove: () => rm(folder, { recursive: true, force: true }),
  };
}

async function copy(files: readonly string[], to: string): Promise<void> {
  for (const file of files) await copyFile(join(SOURCE, file), join(to, file));
}

async function run(
  installed: string,
  cwd: string,
  program: string,
  args: readonly string[],
  env: Readonly<Record<string, string>>,
): Promise<string> {
  const own: Readonly<Record<string, string>> = {
    node: process.execPath,
    tsx: join(ROOT, 'node_modules', '.bin', 'tsx'),
  };
  const path = own[program] ?? join(installed, 'node_modules', '.bin', program);
  try {
    const options = { cwd, maxBuffer: 2 ** 26, env: { ...process.env, ...env } };
    return (await promisify(execFile)(path, args, options)).stdout;
  } catch (error) {
    const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
    throw new Error(`${program} ${args.join(' ')}: ${stdout}${stderr}`.slice(0, 4_000), { cause: error });
  }
}
