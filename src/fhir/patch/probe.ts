/** Operations of a patch that find out what is stored. Pure. */
import type { Patch } from './patch.ts';

/** Names and positions of elements: a path that compares nothing. */
const PLAIN = /^[A-Za-z]\w*(?:\[\d+\])?(?:\.`?[A-Za-z]\w*`?(?:\[\d+\])?)*$/;

/**
 * Returns what of a patch compares stored values with the client's: a `test` of JSON Patch, criteria in a path of FHIRPath
 * Patch. Undefined for a patch that only writes.
 * @returns the words in the middle of a sentence
 */
export function probeIn(patch: Patch): string | undefined {
  if (patch.format === 'json-patch') {
    const test = patch.operations.find(({ op }) => op === 'test');
    return test === undefined ? undefined : `${test.text}`;
  }
  const found = patch.operations.find(({ path }) => !PLAIN.test(path.trim()));
  return found === undefined ? undefined : `the path of ${found.at}, which is more than names and positions,`;
}
