/** Reads some members of a large JSON object and skips all others without building them. */
import type { Json, JsonObject } from './json.ts';

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Maximum number of values to remember; rare values aren't worth remembering. */
const MOST_KNOWN = 2_000;

/**
 * Returns the members with the given names; their numbers are plain JavaScript numbers. Stops after the last of these members.
 * @param text a well-formed JSON object without blanks between tokens and without escapes in names, as resources are stored
 * @param known values by their text, up to a limit; equal values are shared and must not be changed
 * @returns undefined for a text in any other form
 */
export function someMembers(
  text: string,
  names: ReadonlySet<string>,
  known: Map<string, Json>,
): JsonObject | undefined {
  const members: JsonObject = {};
  let missing = names.size;
  if (text === '{}') return members;
  if (text.charCodeAt(0) !== OPEN_OBJECT) return undefined;
  for (let at = 1; ; at += 1) {
    if (text.charCodeAt(at) !== QUOTE) return undefined;
    const colon = text.indexOf('":', at + 1);
    const end = colon < 0 ? -1 : endOfValue(text, colon + 2);
    if (end < 0) return undefined;
    const name = text.slice(at + 1, colon);
    if (names.has(name)) {
      members[name] = readValue(text.slice(colon + 2, end), known);
      missing -= 1;
      if (missing === 0) return members;
    }
    if (end === text.length - 1 && text.charCodeAt(end) === CLOSE_OBJECT) return members;
    if (text.charCodeAt(end) !== COMMA) return undefined;
    at = end;
  }
}

function readValue(text: string, known: Map<string, Json>): Json {
  if (text.charCodeAt(0) === QUOTE && !text.includes('\\')) return text.slice(1, -1);
  const before = known.get(text);
  if (before !== undefined) return before;
  const value = JSON.parse(text) as Json;
  // The text is copied, because a slice would keep the whole document in memory.
  if (known.size < MOST_KNOWN) known.set(Buffer.from(text).toString(), value);
  return value;
}

/** Returns the end (exclusive) of the value that begins at the given position; -1 if the value doesn't end. */
function endOfValue(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at += 1) {
    switch (text.charCodeAt(at)) {
      case QUOTE:
        at = endOfString(text, at);
        if (at < 0) return -1;
        if (depth === 0) return at + 1;
        break;
      case OPEN_LIST:
      case OPEN_OBJECT:
        depth += 1;
        break;
      case CLOSE_LIST:
      case CLOSE_OBJECT:
        // A number or a word before this character ends here.
        if (depth === 0) return at;
        depth -= 1;
        if (depth === 0) return at + 1;
        break;
      case COMMA:
        if (depth === 0) return at;
        break;
    }
  }
  return -1;
}

/** Returns the position of the quote that closes a string; -1 if there is none. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}
