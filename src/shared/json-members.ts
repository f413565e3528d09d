/** Some members of a large JSON object, without the others: what is not wanted is passed over, not built. */
import type { Json, JsonObject } from './json.ts';

const [QUOTE, COMMA, BACKSLASH] = [0x22, 0x2c, 0x5c];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** How many values are remembered: what every object says differently would only be kept. */
const MOST_KNOWN = 2_000;

/**
 * Those members of an object that have one of the names; as plain JavaScript reads them, numbers too.
 * @param text a JSON object without blanks between tokens, well-formed as resources are stored, names without escapes.
 * @param known values by their texts, which grows up to a bound: objects that say the same have it from there, to be read only.
 * @returns undefined for a text that is not written so.
 */
export function someMembers(
  text: string,
  names: ReadonlySet<string>,
  known: Map<string, Json>,
): JsonObject | undefined {
  const members: JsonObject = {};
  if (text === '{}') return members;
  if (text.charCodeAt(0) !== OPEN_OBJECT) return undefined;
  for (let at = 1; ; at += 1) {
    if (text.charCodeAt(at) !== QUOTE) return undefined;
    const colon = text.indexOf('":', at + 1);
    const end = colon < 0 ? -1 : endOfValue(text, colon + 2);
    if (end < 0) return undefined;
    const name = text.slice(at + 1, colon);
    if (names.has(name)) members[name] = readValue(text.slice(colon + 2, end), known);
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
  // As a copy: a part of a text keeps all of it.
  if (known.size < MOST_KNOWN) known.set(Buffer.from(text).toString(), value);
  return value;
}

/** Where a value that begins at a place ends: behind its last character. -1: nowhere. */
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
        // A number or a word before it ends here.
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

/** The quote that ends the string which begins at a place; -1 for none. */
function endOfString(text: string, from: number): number {
  for (let at = text.indexOf('"', from + 1); at >= 0; at = text.indexOf('"', at + 1)) {
    let backslashes = 0;
    while (text.charCodeAt(at - 1 - backslashes) === BACKSLASH) backslashes += 1;
    if (backslashes % 2 === 0) return at;
  }
  return -1;
}
