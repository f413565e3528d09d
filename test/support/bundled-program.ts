/** Programs of tests as the service is run: bundled, for loading their sources one by one costs seconds of each start. */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { ROOT } from './process.ts';

/** Where packages are found from. */
const KEPT = join(ROOT, 'node_modules', '.cache');

interface Bundler {
  readonly bundle: (outdir: string, entryPoints: Readonly<Record<string, string>>) => Promise<void>;
}

const made = new Map<string, Promise<string>>();

/** The bundle of a program, made once in a process and removed with it. @param source below the repository */
export function bundledProgram(source: string): Promise<string> {
  const known = made.get(source) ?? make(source);
  made.set(source, known);
  return known;
}

async function make(source: string): Promise<string> {
  mkdirSync(KEPT, { recursive: true });
  const folder = mkdtempSync(join(KEPT, 'annal-test-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  // Plain JavaScript, without types.
  const { bundle }: Bundler = await import(pathToFileURL(join(ROOT, 'bin/program.js')).href);
  await bundle(folder, { program: source });
  return join(folder, 'program.mjs');
}
