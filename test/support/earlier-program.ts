/** Another version of the program: a copy of its sources with changed texts. */
import { cp, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { startApp } from '#src/app.ts';
import { ROOT } from './process.ts';
import { temporaryFolder } from './temporary.ts';

/** A text in a file, and its replacement. */
export type Change = readonly [file: string, text: string, other: string];

/** A copy of the program. */
export interface EarlierProgram {
  readonly root: string;
  readonly startApp: typeof startApp;
}

const COPIED = [
  'commands',
  'projections',
  'queries',
  'src',
  'package.json',
  'package-lock.json',
  'tsconfig.json',
];
const LINKED = ['bin', 'clients', 'dashboard', 'docs', 'node_modules'];

/**
 * Copies the program and changes its texts.
 * @throws Error if a file doesn't contain a text
 */
export async function copyProgram(changes: readonly Change[]): Promise<EarlierProgram> {
  const root = `${await temporaryFolder()}/`;
  for (const name of COPIED) await cp(join(ROOT, name), join(root, name), { recursive: true });
  for (const name of LINKED) await symlink(join(ROOT, name), join(root, name));
  for (const [file, text, other] of changes) {
    const source = await readFile(join(root, file), 'utf8');
    if (!source.includes(text)) throw new Error(`${file} has no ${text}`);
    await writeFile(join(root, file), source.replaceAll(text, other));
  }
  const { startApp } = await import(join(root, 'src/app.ts'));
  return { root, startApp };
}
