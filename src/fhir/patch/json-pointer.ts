/** Reads JSON Pointers: https://www.rfc-editor.org/rfc/rfc6901. */
import { isObject, type Json, type JsonObject } from '#src/shared/json/json.ts';

/** A pointer's decoded reference tokens; an empty list means the whole document. */
export type Pointer = readonly string[];

/** Matches a `~` that isn't part of `~0` or `~1`, and is therefore invalid (RFC 6901, section 3). */
const TILDE = /~(?![01])/;
/** Matches an index: digits without a leading zero (RFC 6901, section 4). */
const INDEX = /^(?:0|[1-9]\d*)$/;

/** Parses a pointer; returns undefined if the text is invalid. */
export function parsePointer(text: string): Pointer | undefined {
  if ((text !== '' && !text.startsWith('/')) || TILDE.test(text)) return undefined;
  return text
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'));
}

/** Returns whether `inner` is a location below `outer`. */
export function isBelow(inner: Pointer, outer: Pointer): boolean {
  return inner.length > outer.length && outer.every((token, index) => token === inner[index]);
}

/**
 * Returns the value at a pointer; undefined if there is none. Only an object's own members are found: `/constructor` finds
 * nothing.
 */
export function valueAt(document: Json, pointer: Pointer): Json | undefined {
  let value: Json | undefined = document;
  for (const token of pointer) {
    if (Array.isArray(value)) value = INDEX.test(token) ? value[Number(token)] : undefined;
    else if (isObject(value) && Object.hasOwn(value, token)) value = value[token];
    else return undefined;
  }
  return value;
}

/** A location in an array or an object, which may not have a value yet. */
export type Place =
  | { readonly array: Json[]; readonly index: number }
  | { readonly object: JsonObject; readonly key: string };

/**
 * Returns the location of a pointer's last token: a member, or an index up to the array's length (`-` is the length).
 * Undefined if the parent doesn't exist, if the token isn't valid in the parent, or if the token is `__proto__`, which
 * wouldn't become a member.
 */
export function placeAt(document: Json, pointer: Pointer): Place | undefined {
  const last = pointer.at(-1);
  if (last === undefined) return undefined;
  const parent = valueAt(document, pointer.slice(0, -1));
  if (Array.isArray(parent)) {
    if (last === '-') return { array: parent, index: parent.length };
    const index = INDEX.test(last) ? Number(last) : Number.POSITIVE_INFINITY;
    return index <= parent.length ? { array: parent, index } : undefined;
  }
  return isObject(parent) && last !== '__proto__' ? { object: parent, key: last } : undefined;
}
