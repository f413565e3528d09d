/**
 * Records in a Bundle how many of a record's resources it leaves out because an AI changed someone else's entries
 * (docs/decisions/0025-changed-by-ai-is-said.md). Meant for programs, which don't read narratives.
 */

/** The tag's system. */
export const LEFT_OUT_SYSTEM = 'https://annal.dev/fhir/left-out';

/** The tag's code in a Bundle that contains versions that were later replaced (docs/shared-links.md). */
export const REPLACED = 'replaced';

/** The words with which a narrative's paragraph about the previous content begins. */
export const BEFORE_AI = 'Before AI changed it: ';

/**
 * Returns a Bundle's `meta` member as JSON text; empty if no entries were left out.
 * @param changed how many entries were left out
 * @param after text to append
 */
export function changedTag(changed: number, after = ''): string {
  if (changed === 0) return '';
  const display = `${changed} changed by an AI since somebody else wrote ${changed === 1 ? 'it' : 'them'}`;
  return `"meta":${JSON.stringify({ tag: [{ system: LEFT_OUT_SYSTEM, code: 'changed-by-ai', display }] })}${after}`;
}
