/** Identifies the running version of the code that produces answers with receipts (docs/receipts.md). */
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/** The folders and files that produce answers. `test/receipts/archiving.test.ts` checks that none is missing. */
export const RENDERING = [
  'src/clinical',
  'src/context',
  'src/fhir',
  'src/insight',
  'src/mcp',
  'src/receipts',
  'src/shared',
  'src/shl',
  'src/v1',
  'package-lock.json',
] as const;

let known: string | undefined;

/**
 * Returns a hash of the code, 16 hex digits: programs with the same hash produce the same answers from the same inputs. The
 * hash is computed once, when the first receipt is made.
 */
export function nameProgram(): string {
  known ??= hashCode();
  return known;
}

/** Returns the program's hash if the program has made receipts; otherwise undefined. */
export function usedProgram(): string | undefined {
  return known;
}

/**
 * Returns the current hash of the code.
 * @param root the program's folder
 */
export function hashCode(root = ROOT): string {
  const hash = createHash('sha256');
  for (const name of RENDERING) {
    const files = name.includes('.')
      ? [name]
      : readdirSync(join(root, name), { recursive: true, encoding: 'utf8', withFileTypes: true })
          .filter((entry) => entry.isFile())
          .map((entry) => relative(root, join(entry.parentPath, entry.name)))
          .sort();
    for (const file of files) {
      // A lock file may be missing if the package wasn't installed in the usual way.
      if (!existsSync(join(root, file))) continue;
      const bytes = readFileSync(join(root, file));
      hash.update(`${file} ${bytes.length}\n`).update(bytes);
    }
  }
  return hash.digest('hex').slice(0, 16);
}
