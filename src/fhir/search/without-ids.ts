/** Keeps searches and orders from telling the digits of an id. */

/**
 * A UUIDv7 at every place where one begins, so that ids that overlap are found too; also without the two digits that the
 * edge doesn't need (`src/http/edge/ids.ts`).
 */
const ID = /(?=([0-9a-f]{6,8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}))/gi;
const SHORTEST = 34;

/**
 * Returns a text of the same length whose UUIDv7 have zeros for digits and letters. An application with a grant knows
 * another id of the patient, but what it writes has the real one, and what the owner wrote may have it: comparing texts
 * by their beginnings, parts or order would tell its digits. All ids are masked, not only the patient's, because a text
 * that behaves unlike texts with other ids would confirm that it has the real one (docs/spec/decisions.md, section 1).
 */
export function withoutIds(text: string): string {
  if (text.length < SHORTEST || !text.includes('-7')) return text;
  let result = '';
  let done = 0;
  for (const { index, 1: id = '' } of text.matchAll(ID)) {
    const from = Math.max(index, done);
    const end = index + id.length;
    result += text.slice(done, from) + text.slice(from, end).replace(/[^-]/g, '0');
    done = end;
  }
  return done === 0 ? text : result + text.slice(done);
}

/**
 * Returns a changed text without ids if the change made some, such as by taking out a blank of no width: under a grant ids
 * were exchanged before, and what is one only now would be exchanged in one direction alone.
 * @param before the text before the change, which breaks no id
 */
export function withoutNewIds(after: string, before: string): string {
  return countOf(after) === countOf(before) ? after : withoutIds(after);
}

function countOf(text: string): number {
  return text.length < SHORTEST ? 0 : [...text.matchAll(ID)].length;
}
