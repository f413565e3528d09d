/**
 * Says in a Bundle how many of a record's resources it leaves out because an AI changed the entries of somebody else
 * (docs/decisions/0025-changed-by-ai-is-said.md): for programs, which don't read narratives.
 */

/** The tag's system. */
export const LEFT_OUT_SYSTEM = 'https://annal.dev/fhir/left-out';

/** The tag's code in a Bundle of versions that others replaced (docs/shared-links.md). */
export const REPLACED = 'replaced';

/** The beginning of a narrative's paragraph that tells what was there before. */
export const BEFORE_AI = 'Before AI changed it: ';

/**
 * Returns the member `meta` of a Bundle as JSON text; an empty text for none.
 * @param changed how many were left out
 * @param after text that follows it
 */
export function changedTag(changed: number, after = ''): string {
  if (changed === 0) return '';
  const display = `${changed} changed by an AI since somebody else wrote ${changed === 1 ? 'it' : 'them'}`;
  return `"meta":${JSON.stringify({ tag: [{ system: LEFT_OUT_SYSTEM, code: 'changed-by-ai', display }] })}${after}`;
}
