/** Texts that a database can hold: no NUL, no half of a surrogate pair, written as they are or as escapes of JSON. */

/** Escapes in JSON; adjacent escapes of code units match as one. */
const ESCAPES = /(?:\\u[0-9a-f]{4})+|\\[^u]/gi;

/**
 * Returns true if a text contains neither. A lone surrogate has no UTF-8 form and would be read back as
 * U+FFFD.
 */
export function isStorable(text: string): boolean {
  return !text.includes('\0') && text.isWellFormed();
}

/** Returns true if the decoded strings of a JSON text can be stored too. */
export function isStorableJson(json: string): boolean {
  if (!isStorable(json)) return false;
  if (!json.includes('\\u')) return true;
  for (const [escapes] of json.matchAll(ESCAPES)) {
    if (escapes.length > 2 && !isStorable(JSON.parse(`"${escapes}"`))) return false;
  }
  return true;
}
