/** Finds operations in a patch that reveal stored values. Pure. */
import type { Patch } from './patch.ts';

/** Matches a path of element names and positions; such a path compares nothing. */
const PLAIN = /^[A-Za-z]\w*(?:\[\d+\])?(?:\.`?[A-Za-z]\w*`?(?:\[\d+\])?)*$/;

/**
 * Describes the part of a patch that reads stored values: `test`, `copy` and `move` in a JSON Patch; `move` and paths with
 * criteria in a FHIRPath Patch. Returns undefined for a patch that only writes.
 * @returns words for the middle of a sentence
 */
export function probeIn(patch: Patch): string | undefined {
  if (patch.format === 'json-patch') {
    return patch.operations.find(({ op }) => op === 'test' || op === 'copy' || op === 'move')?.text;
  }
  const move = patch.operations.find(({ type }) => type === 'move');
  if (move !== undefined) return `${move.at} (move)`;
  const found = patch.operations.find(({ path }) => !PLAIN.test(path.trim()));
  return found === undefined ? undefined : `the path of ${found.at}, which is more than names and positions,`;
}
