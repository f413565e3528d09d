/**
 * Removes files from node_modules that a running service never reads: source maps, type declarations, and all of the tokenizer
 * except the one vocabulary that contexts are counted with. Run `node tools/image/prune.ts` (Node.js 24) in the folder of an
 * installation used only to run the service, such as the container image's.
 */
import { existsSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const UNREAD = /\.(?:map|d\.[cm]?ts)$/;
/** The tokenizer module that `src/context/tokenizer.ts` imports. */
const VOCABULARY = 'esm/encoding/o200k_base.js';

/**
 * Prunes a folder of packages.
 * @param modules path of a `node_modules`
 * @returns how many files were removed, and their total bytes
 * @throws Error if the tokenizer's module has moved; in that case, no file of the tokenizer is removed
 */
export function prune(modules: string): { readonly files: number; readonly bytes: number } {
  const removed = { files: 0, bytes: 0 };
  const tokenizer = join(modules, 'gpt-tokenizer');
  const kept = existsSync(tokenizer) ? listImported(join(tokenizer, VOCABULARY)) : new Set<string>();
  for (const entry of readdirSync(modules, { recursive: true, withFileTypes: true })) {
    const file = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    const isOther = file.startsWith(`${tokenizer}/`) && /\.(?:js|ts|tiktoken)$/.test(file) && !kept.has(file);
    if (!isOther && !UNREAD.test(entry.name)) continue;
    removed.files += 1;
    removed.bytes += statSync(file).size;
    rmSync(file);
  }
  return removed;
}

/** Returns the paths of a module and of all modules that it imports, directly or indirectly, by relative paths. */
function listImported(entry: string): Set<string> {
  const found = new Set([entry]);
  for (const file of found)
    for (const [, path = ''] of readFileSync(file, 'utf8').matchAll(
      /\b(?:from|import)\s*\(?\s*['"](\.[^'"]+)['"]/g,
    ))
      found.add(resolve(dirname(file), path));
  return found;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { files, bytes } = prune(resolve('node_modules'));
  console.log(`removed ${files} files, ${Math.round(bytes / 1e6)} MB`);
}
