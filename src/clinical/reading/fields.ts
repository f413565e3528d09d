/** Reads JSON values of any form, because the script of a page reads records from other systems. Pure. */

/** Returns an object's members; an empty object for anything else. */
export function readMembers(value: unknown): Readonly<Record<string, unknown>> {
  return isMembers(value) ? value : {};
}

function isMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return (
    typeof value === 'object' && value !== null && !Array.isArray(value) && !('isLosslessNumber' in value)
  );
}

/** Returns a list's items; a single item is returned as a list of one. */
export function listItems(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return value === undefined || value === null ? [] : [value];
}

/** Matches characters that would change the direction of the text after them. */
const DIRECTIONS = /[\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Returns a text trimmed and without direction marks; undefined if it is empty or not a string. */
export function readText(value: unknown): string | undefined {
  const text = typeof value === 'string' ? value.replace(DIRECTIONS, '').trim() : '';
  return text === '' ? undefined : text;
}

/** Returns a CodeableConcept's words: its text, otherwise a display, otherwise a code. */
export function conceptText(value: unknown): string | undefined {
  const { text, coding } = readMembers(value);
  const codings = listItems(coding).map(readMembers);
  return (
    readText(text) ??
    codings.map(({ display }) => readText(display)).find((display) => display !== undefined) ??
    codings.map(({ code }) => readText(code)).find((code) => code !== undefined)
  );
}
