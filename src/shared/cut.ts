/**
 * Cuts text from clients and records. Under a grant, the edge exchanges Patients' ids, but recognises only complete ids: text
 * that ended in the middle of an id would reveal most of the real id (docs/spec/decisions.md, section 1).
 */

/**
 * Matches a UUID, regardless of what precedes and follows it, and even without its first two digits, which the edge doesn't
 * need (`shared/access/id-exchange.ts`).
 */
const UUID_HERE = /[0-9a-f]{6,8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}/iy;
/** Length of a whole UUID, in characters. */
const UUID = 36;

/**
 * Returns the beginning of a text, for messages and everything else that is shown. The result never ends in the middle of a
 * UUID: a UUID that doesn't fit is left out.
 * @param most maximum length of the result, in code units; the text itself is returned if it isn't longer
 */
export function cut(text: string, most: number): string {
  if (text.length <= most) return text;
  let end = most;
  // UUIDs may overlap, so leaving one out can cut off part of another.
  for (let at = end - 1; at >= 0 && at > end - UUID; at -= 1) {
    UUID_HERE.lastIndex = at;
    if (UUID_HERE.test(text) && UUID_HERE.lastIndex > end) end = at;
  }
  return text.slice(0, end);
}
